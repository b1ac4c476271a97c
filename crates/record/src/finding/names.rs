//! Between the numbers of a scenario and the names in a file.

use anabranch_kernel::{Choice, ErrorSpace, ParamSpace, Params};

use super::{ErrorRun, FindingError, FindingErrorKind, StartValue};

pub(super) fn group(space: &ErrorSpace, choices: &[Choice], matters: &[bool]) -> Vec<ErrorRun> {
    let mut runs: Vec<ErrorRun> = Vec::new();
    for (at, &choice) in choices.iter().enumerate() {
        let modes = modes_of(space, choice);
        let matters = matters.get(at).copied();
        match runs.last_mut() {
            Some(last) if last.modes == modes && last.matters == matters => last.segments += 1,
            _ => runs.push(ErrorRun { segments: 1, modes, matters, line: 0 }),
        }
    }
    runs
}

fn modes_of(space: &ErrorSpace, choice: Choice) -> Vec<(String, String)> {
    let erroneous = space.modes(choice).iter().zip(space.sites()).filter(|&(&mode, _)| mode != 0);
    erroneous.map(|(&mode, site)| (site.id.clone(), site.modes[usize::from(mode)].name.clone())).collect()
}

pub(super) fn choices(runs: &[ErrorRun], space: &ErrorSpace) -> Result<Vec<Choice>, FindingError> {
    let mut choices = Vec::new();
    for run in runs {
        let choice = find(run, space).map_err(|kind| kind.at(run.line))?;
        choices.extend(std::iter::repeat_n(choice, run.segments as usize));
    }
    Ok(choices)
}

fn find(run: &ErrorRun, space: &ErrorSpace) -> Result<Choice, FindingErrorKind> {
    let mut modes = vec![0; space.sites().len()];
    for (site, mode) in &run.modes {
        let at = space.sites().iter().position(|s| s.id == *site).ok_or_else(|| FindingErrorKind::NoSuchSite {
            site: site.clone(),
            known: list(space.sites().iter().map(|s| s.id.as_str())),
        })?;
        let known = &space.sites()[at].modes;
        let number = known.iter().position(|m| m.name == *mode).ok_or_else(|| FindingErrorKind::NoSuchMode {
            site: site.clone(),
            mode: mode.clone(),
            known: list(known.iter().map(|m| m.name.as_str())),
        })?;
        modes[at] = u8::try_from(number).expect("a site has at most 255 modes");
    }
    space
        .find(&modes)
        .ok_or_else(|| FindingErrorKind::NotTogether(list(run.modes.iter().map(|(site, _)| site.as_str()))))
}

pub(super) fn params(start: &[StartValue], space: &ParamSpace) -> Result<Params, FindingError> {
    let wrong = |why: String| FindingErrorKind::Start(why).at(0);
    if let Some(extra) = start.iter().find(|value| space.axes.iter().all(|axis| axis.name != value.name)) {
        return Err(wrong(format!("`{}` is not a start parameter any more", extra.name)));
    }
    let value = |axis: &anabranch_kernel::Axis| match start.iter().find(|value| value.name == axis.name) {
        None => Err(wrong(format!("`{}` has no value in the file", axis.name))),
        Some(value) if value.unit != axis.unit => {
            Err(wrong(format!("`{}` is in `{}`, the scenario has `{}`", axis.name, value.unit, axis.unit)))
        }
        Some(value) => Ok(value.value),
    };
    space.axes.iter().map(value).collect::<Result<_, _>>().map(Params)
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
