//! Makes FMUs with the system's C compiler, in a folder that goes with them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An FMU on disk.
pub struct Made {
    pub path: PathBuf,
    _folder: TempDir,
}

/// What an FMU is made of.
pub struct Recipe {
    pub source: PathBuf,
    pub description: String,
    pub identifier: &'static str,
    pub version: u8,
    pub flags: Vec<&'static str>,
}

impl Recipe {
    /// The built-in law.
    pub fn law(version: u8) -> Self {
        let examples = root().join("examples/fmu");
        let description = examples.join(format!("follow_law.fmi{version}.xml"));
        Self {
            source: examples.join("follow_law.c"),
            description: std::fs::read_to_string(description).expect("the example's description"),
            identifier: "follow_law",
            version,
            flags: Vec::new(),
        }
    }
    /// The driver that misbehaves; `claims` are its capability flags, as attributes.
    pub fn rogue(version: u8, claims: &str) -> Self {
        Self {
            source: root().join("crates/bridge/tests/fmu/rogue.c"),
            description: rogue_description(version, claims),
            identifier: "rogue",
            version,
            flags: Vec::new(),
        }
    }
    /// Where this version keeps its binary.
    pub fn platform(&self) -> &'static str {
        if self.version == 2 { "linux64" } else { "x86_64-linux" }
    }
    /// Compiles it, once for a process.
    pub fn library(&self) -> Vec<u8> {
        static MADE: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
        let name = format!("{} {} {:?}", self.source.display(), self.version, self.flags);
        let mut made = MADE.lock().expect("nobody failed to compile");
        made.entry(name).or_insert_with(|| self.compile()).clone()
    }
    fn compile(&self) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("library.so");
        let output = Command::new("cc")
            .args(["-std=c99", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-w"])
            .arg(format!("-DFMI={}", self.version))
            .args(&self.flags)
            .arg("-I")
            .arg(root().join("examples/fmu"))
            .arg("-o")
            .args([&library, &self.source])
            .arg("-lm")
            .output()
            .expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read(library).expect("compiled")
    }
    /// Compiles and packs it.
    pub fn make(&self) -> Made {
        let binary = format!("binaries/{}/{}.so", self.platform(), self.identifier);
        pack(&[("modelDescription.xml", self.description.as_bytes()), (&binary, &self.library())])
    }
}

/// Packs files under the names as they are.
pub fn pack(files: &[(&str, &[u8])]) -> Made {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.fmu");
    let mut zip = ZipWriter::new(std::fs::File::create(&path).expect("created"));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("an entry");
        zip.write_all(content).expect("written");
    }
    zip.finish().expect("finished");
    Made { path, _folder: folder }
}

fn rogue_description(version: u8, claims: &str) -> String {
    let variables = [
        ("path.lateral", 1, "input"),
        ("speed", 2, "input"),
        ("steer", 11, "output"),
        ("accel", 12, "output"),
        ("gear", 13, "output"),
        ("completed", 14, "output"),
        ("sum", 15, "local"),
        ("steps", 16, "local"),
        ("mode", 21, "parameter"),
        ("at", 22, "parameter"),
    ];
    let line = |(name, reference, causality): (&str, u32, &str)| match version {
        2 => format!(
            "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\"><Real/></ScalarVariable>\n"
        ),
        _ => format!("<Float64 name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\"/>\n"),
    };
    let token = if version == 2 { "guid" } else { "instantiationToken" };
    format!(
        "<fmiModelDescription fmiVersion=\"{version}.0\" modelName=\"rogue\" {token}=\"{{anabranch-example}}\">\n\
         <CoSimulation modelIdentifier=\"rogue\" canHandleVariableCommunicationStepSize=\"true\" {claims}/>\n\
         <ModelVariables>\n{}</ModelVariables>\n</fmiModelDescription>\n",
        variables.into_iter().map(line).collect::<String>()
    )
}
