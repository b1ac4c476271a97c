//! `run`: one simulation, without error or with those of a finding.

use std::path::PathBuf;

use anabranch_kernel::{Seed, System};
use clap::Args;
use serde_json::json;

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::{Loaded, Override, load, parse_override, with_driver};
use crate::model;
use crate::outside::Patience;
use crate::project;
use crate::screen::{Global, Screen};
use crate::simulate::Plan;
use crate::usage::{ThisSystem, Usage};

/// Run one simulation, or a model over a table.
#[derive(Args, Clone, Debug)]
pub struct Run {
    /// Scenario file, or a model (.emam) with `--inputs`.
    pub scenario: PathBuf,
    /// Errors of a finding (`finding.toml`); none if left out.
    #[arg(long, value_name = "FILE")]
    pub errors: Option<PathBuf>,
    /// Another driver instead of the scenario's: a built-in one by name, a file, or the address of a running one.
    #[arg(long, value_name = "FILE")]
    pub driver: Option<String>,
    /// Change a value of the scenario, as in ego.start.y="0.1 m"; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Fire a trigger by hand, or start an object that waits, as in steps-out@3.2s; may be repeated.
    #[arg(long = "fire", value_name = "NAME@TIME", value_parser = parse_fire)]
    pub fires: Vec<Fire>,
    /// Write every signal of every base cycle: as MCAP for viewers if the name ends in .mcap, else as CSV.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Ask a driver from outside when its time has come on the clock on the wall, for hardware; late answers are counted.
    #[arg(long)]
    pub real_time: bool,
    /// What is for models.
    #[command(flatten)]
    pub over: model::run::Over,
}

/// Something that happens once, and when it is made to happen.
#[derive(Clone, Debug)]
pub struct Fire {
    name: String,
    /// With its unit, as in `3.2 s`.
    time: String,
}

/// Reads `NAME@TIME`.
fn parse_fire(text: &str) -> Result<Fire, String> {
    let usage = || "write a name and a time with its unit, as in steps-out@3.2s".to_owned();
    let (name, time) = text.rsplit_once('@').ok_or_else(usage)?;
    let digits = time.trim().trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    let unit = time.trim()[digits.len()..].trim();
    if name.trim().is_empty() || digits.is_empty() || unit.is_empty() {
        return Err(usage());
    }
    Ok(Fire { name: name.trim().to_owned(), time: format!("{digits} {unit}") })
}

impl Fire {
    /// As a change of the scenario: who reads the run sees what was done.
    fn as_override(&self, loaded: &Loaded) -> Result<Override, Failure> {
        let road = loaded.spec.road.as_ref();
        let triggers = road.map_or(&[][..], |road| &road.triggers).iter().map(|trigger| &trigger.id.value);
        let waiting = road.map_or(&[][..], |road| &road.objects).iter().filter(|object| object.waits && !object.ghost);
        let all = triggers.map(|id| ("trigger", id)).chain(waiting.map(|object| ("object", &object.id.value)));
        let all: Vec<(&str, &String)> = all.collect();
        let Some((table, id)) = all.iter().find(|(_, id)| **id == self.name) else {
            let names: Vec<&str> = all.iter().map(|(_, id)| id.as_str()).collect();
            let help = match names.as_slice() {
                [] => "the scenario has no [[trigger]] and nobody who waits".to_owned(),
                names => format!("there is {}", names.join(", ")),
            };
            return Err(Failure::input(
                format!("nothing that could be fired is called `{}`", escape(&self.name)),
                &help,
            ));
        };
        Ok((format!("{table}.{id}.fired"), format!("\"{}\"", self.time)))
    }
}

impl Run {
    /// Simulates and tells how it ended.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        if model::is_model(&self.scenario) {
            self.only_scenarios_have()?;
            return model::run::run(&self.scenario, &self.over, global, screen);
        }
        if self.over.is_given() {
            let message = "--inputs, --outputs, --ticks and --tolerance are about models, and this is a scenario";
            return Err(Failure::input(
                message,
                "names of models end in .emam; --trace writes what happens in a scenario",
            ));
        }
        let mut overrides = with_driver(&self.sets, self.driver.as_ref());
        if !self.fires.is_empty() {
            let loaded = load(&self.scenario, &overrides)?;
            for fire in &self.fires {
                overrides.push(fire.as_override(&loaded)?);
            }
        }
        let mut loaded = load(&self.scenario, &overrides)?;
        if self.real_time {
            if loaded.spec.ego.driver.outside.is_none() {
                let message = "--real-time is for drivers from outside, and this one is built in";
                return Err(Failure::input(message, "leave it out: a built-in driver has no clock"));
            }
            loaded.patience = Patience::RealTime;
        }
        let cpu_before_s = ThisSystem.cpu_s();
        let drive = loaded.drive()?;
        let first =
            drive.space().all().into_iter().next().ok_or_else(|| Failure::input("the scenario has no start", ""))?;
        let (mut params, mut choices, mut seed) = (first, Vec::new(), Seed(global.seed.unwrap_or(0)));
        if let Some(path) = &self.errors {
            let finding = project::read_finding(path)?;
            project::check_segments(&finding, drive.as_ref())?;
            choices = project::in_file(path, finding.choices(drive.errors()))?;
            params = project::params_of(&finding, path, &drive)?;
            seed = Seed(global.seed.unwrap_or(finding.seed));
        } else if drive.space().len() > 1 {
            screen.warn(&format!("the scenario has {} starts; this is the first of them", drive.space().len()));
        }
        let plan = Plan { loaded: &loaded, drive: &drive, seed, params, choices, trace: self.trace.clone() };
        let run = plan.simulate()?;
        let mut json = plan.to_json("anabranch.run/1", &run);
        if drive.network().is_some() {
            // How many cars were moved by one base cycle, ours among them; and what all of it took, from laying the traffic on.
            let ticks = json["tick"].as_u64().unwrap_or(0);
            json["vehicle_updates"] = json!(drive.vehicle_updates() + ticks);
            json["simulated_s"] = json["time_s"].clone();
            json["cpu_s"] = json!(ThisSystem.cpu_s().zip(cpu_before_s).map(|(now, before)| now - before));
        }
        if let Some(bytes) = drive.tile_bytes_max() {
            json["tile_bytes_max"] = json!(bytes);
        }
        if !self.fires.is_empty() {
            json["fired"] = self.fires.iter().map(|fire| json!({ "name": fire.name, "at": fire.time })).collect();
        }
        let by_hand = |fire: &Fire| format!("  fired by hand    {} at {}\n", escape(&fire.name), escape(&fire.time));
        let by_hand: String = self.fires.iter().map(by_hand).collect();
        screen.result(|paint| plan.human(paint, &run) + &by_hand, &json);
        Ok(if run.verdict.is_some() { Exit::Findings } else { Exit::Done })
    }

    /// A model has no driver, no errors and no world.
    fn only_scenarios_have(&self) -> Result<(), Failure> {
        let said = [
            (self.errors.is_some(), "--errors"),
            (self.driver.is_some(), "--driver"),
            (!self.sets.is_empty(), "--set"),
            (!self.fires.is_empty(), "--fire"),
            (self.trace.is_some(), "--trace"),
            (self.real_time, "--real-time"),
        ];
        match said.iter().find(|(said, _)| *said) {
            Some((_, flag)) => {
                let help = "a model takes --inputs, --outputs and --arg";
                Err(Failure::input(format!("{flag} is about scenarios, and this is a model"), help))
            }
            None => Ok(()),
        }
    }
}
