//! What cargo knows about the workspace.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A crate of the workspace and the crates it uses outside of its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Name in its manifest.
    pub name: String,
    /// Names of its normal and build dependencies.
    pub uses: Vec<String>,
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest_dir.and_then(|dir| dir.parent().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."))
}

/// Cargo itself, started in the folder of the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The crates of the workspace, ordered by name.
pub fn packages() -> Result<Vec<Package>, String> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("`cargo metadata` did not start: {error}"))?;
    if !output.status.success() {
        return Err("`cargo metadata` failed; its message is above".to_owned());
    }
    let json = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("`cargo metadata` wrote something that is not JSON: {error}"))?;
    parse(&json).ok_or_else(|| "`cargo metadata` wrote JSON of an unknown form".to_owned())
}

fn parse(json: &Value) -> Option<Vec<Package>> {
    let mut packages = Vec::new();
    for package in json.get("packages")?.as_array()? {
        let dependencies = package.get("dependencies")?.as_array()?.iter();
        let mut uses: Vec<String> = dependencies
            .filter(|dependency| dependency.get("kind").and_then(Value::as_str) != Some("dev"))
            .filter_map(|dependency| Some(dependency.get("name")?.as_str()?.to_owned()))
            .collect();
        uses.sort();
        uses.dedup();
        packages.push(Package { name: package.get("name")?.as_str()?.to_owned(), uses });
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Some(packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dev_dependencies_are_left_out() {
        let json = serde_json::json!({ "packages": [{
            "name": "b",
            "dependencies": [
                { "name": "z", "kind": null },
                { "name": "a", "kind": "build" },
                { "name": "only-in-tests", "kind": "dev" },
            ],
        }, { "name": "a", "dependencies": [] }] });
        let expect = vec![
            Package { name: "a".into(), uses: vec![] },
            Package { name: "b".into(), uses: vec!["a".into(), "z".into()] },
        ];
        assert_eq!(parse(&json), Some(expect));
        assert_eq!(parse(&serde_json::json!({})), None);
    }
}
