//! `anabranch serve-fmu`: the process an FMU runs in. Anabranch starts it itself; people use it to look into an FMU alone.

use std::path::PathBuf;

use anabranch_bridge::fmu::{ArchiveLimits, FmuInstance, FmuMapping, FmuRole, Package, forward_to_standard_error};
use anabranch_bridge::serve::{Endpoint, serve};
use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;

/// Serves an FMU as a driver, or as a part of the car, to the Anabranch that started this process.
#[derive(Args, Debug)]
pub struct ServeFmu {
    /// The FMU, or the folder it was unpacked to.
    fmu: PathBuf,
    /// What it is in the loop: driver, actuator or plant.
    #[arg(long = "as", default_value = "driver", value_parser = FmuRole::named)]
    role: FmuRole,
    /// VARIABLE=NAME of what a driver sees, or VARIABLE=NUMBER.
    #[arg(long = "input", allow_hyphen_values = true)]
    inputs: Vec<String>,
    /// VARIABLE=steer, accel, gear or completed; of a plant, x, y, heading, speed.
    #[arg(long = "output", allow_hyphen_values = true)]
    outputs: Vec<String>,
    /// VARIABLE=NUMBER, before the start.
    #[arg(long = "parameter", allow_hyphen_values = true)]
    parameters: Vec<String>,
    /// VARIABLE=CELL or VARIABLE: what counts for merging.
    #[arg(long = "key", allow_hyphen_values = true)]
    keys: Vec<String>,
    /// Seconds between two steps.
    #[arg(long = "cycle")]
    cycle_s: Option<f64>,
    /// It has no memory.
    #[arg(long)]
    memoryless: bool,
    /// Where to listen (loopback only), if nobody started this process.
    #[arg(long)]
    listen: Option<String>,
}

impl ServeFmu {
    fn mapping(&self) -> Result<FmuMapping, String> {
        let mut mapping =
            FmuMapping { role: self.role, cycle_s: self.cycle_s, memoryless: self.memoryless, ..FmuMapping::default() };
        self.inputs.iter().try_for_each(|text| mapping.add_input(text))?;
        self.outputs.iter().try_for_each(|text| mapping.add_output(text))?;
        self.parameters.iter().try_for_each(|text| mapping.add_parameter(text))?;
        self.keys.iter().for_each(|text| mapping.add_key(text));
        Ok(mapping)
    }
    /// Serves until the host says goodbye.
    pub fn run(&self) -> Result<Exit, Failure> {
        let mapping = self.mapping().map_err(|text| Failure::input(text, ""))?;
        let fail = |what: &dyn std::fmt::Display| Failure::input(format!("`{}`: {what}", self.fmu.display()), "");
        let package = Package::open(&self.fmu, &ArchiveLimits::default()).map_err(|error| fail(&error))?;
        forward_to_standard_error();
        let mut instance = FmuInstance::new(package, &mapping).map_err(|error| fail(&error))?;
        let endpoint = match &self.listen {
            Some(address) => Endpoint::bind(address),
            None => Endpoint::from_environment(),
        };
        let endpoint = endpoint.map_err(|error| fail(&error))?;
        serve(&mut instance, &endpoint).map_err(|error| fail(&error))?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Verb};

    #[test]
    fn a_mapping_comes_through_the_flags_as_it_was() {
        let role = FmuRole::Plant;
        let mut mapping = FmuMapping { role, cycle_s: Some(0.02), memoryless: true, ..FmuMapping::default() };
        mapping.add_input("e=path.lateral").expect("good");
        mapping.add_input("-bias=-0.5").expect("good");
        mapping.add_output("delta=steer").expect("good");
        mapping.add_parameter("k=1e-9").expect("good");
        mapping.add_key("sum=0.25");
        mapping.add_key("done");
        let mut line = vec!["anabranch".to_owned(), anabranch_bridge::fmu::SERVE_VERB.to_owned(), "a.fmu".to_owned()];
        line.extend(mapping.to_arguments());
        let cli = Cli::try_parse_from(line).expect("understood");
        let Verb::ServeFmu(verb) = cli.verb else { panic!("another verb") };
        assert_eq!(verb.mapping(), Ok(mapping));
    }
}
