//! Starting FMUs, each in a process of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::archive::ArchiveLimits;
use super::driver::{FmuMapping, check_mapping};
use super::error::FmuError;
use super::package::Package;
use crate::instance::{Factory, Instance};
use crate::misbehaviour::Misbehaviour;
use crate::process::ProcessFactory;

/// The verb of the command line that serves an FMU.
pub const SERVE_VERB: &str = "serve-fmu";

/// Starts processes that serve an FMU. The file is unpacked, read and checked here, once; its code only runs there.
#[derive(Debug)]
pub struct FmuFactory {
    package: Package,
    process: ProcessFactory,
}

/// What a [`FmuFactory`] needs.
#[derive(Clone, Debug)]
pub struct FmuSpec {
    /// The FMU.
    pub path: PathBuf,
    /// Which variable is what.
    pub mapping: FmuMapping,
    /// How much it may unpack to.
    pub limits: ArchiveLimits,
    /// The program that serves it: `anabranch` itself, or another one with a verb [`SERVE_VERB`].
    pub program: PathBuf,
}

impl FmuSpec {
    /// An FMU whose variables have the right names, served by the program that runs now.
    ///
    /// # Errors
    /// When the system does not tell which program this is.
    pub fn new(path: &Path) -> std::io::Result<Self> {
        let (mapping, limits) = (FmuMapping::default(), ArchiveLimits::default());
        Ok(Self { path: path.to_owned(), mapping, limits, program: std::env::current_exe()? })
    }
}

impl FmuFactory {
    /// Unpacks the FMU and checks that a driver can be made of it; nothing of it is run.
    ///
    /// # Errors
    /// With the place of what does not fit.
    pub fn new(spec: &FmuSpec) -> Result<Self, FmuError> {
        let package = Package::open(&spec.path, &spec.limits)?;
        check_mapping(package.description(), &spec.mapping)?;
        let mut arguments: Vec<OsString> = vec![SERVE_VERB.into(), package.folder().into()];
        arguments.extend(spec.mapping.to_arguments().into_iter().map(OsString::from));
        let mut process = ProcessFactory::new(&spec.program, arguments);
        // Some FMUs write files where they are.
        process.spec.working_dir = Some(package.folder().to_owned());
        Ok(Self { package, process })
    }
    /// How the processes are started, for limits and deadlines of one's own.
    pub fn process_mut(&mut self) -> &mut ProcessFactory {
        &mut self.process
    }
    /// The unpacked FMU.
    pub fn package(&self) -> &Package {
        &self.package
    }
}

impl Factory for FmuFactory {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        self.process.start()
    }
}
