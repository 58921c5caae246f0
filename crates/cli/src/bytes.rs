//! What probes need for the workload `bytes`: a folder of files, and a server of the same.

use std::path::{Path, PathBuf};

use taskscale_bench::{
    bytes::{self, Server},
    plan::Plan,
};
use taskscale_model::{
    bytes::{FOLDER, URL},
    missing::Missing,
};
use taskscale_sys::process::Command;
use tempfile::TempDir;

use crate::folders::{self, UserFolder};

/// The folder, and the server where one is needed.
#[derive(Debug)]
pub struct Beside {
    folder: PathBuf,
    server: Option<Server>,
}

/// The folder in the user's cache.
///
/// # Errors
/// It cannot be made, or is not the user's own.
pub fn folder() -> Result<PathBuf, Missing> {
    UserFolder::Cache.make("bytes")
}

/// Starts the server of a folder.
///
/// # Errors
/// It does not come up.
pub fn server(folder: &Path) -> Result<Server, Missing> {
    let binary = std::env::current_exe()
        .map_err(|error| Missing::new(format!("cannot find this program's own file: {error}"), ""))?;
    let folder = folder.to_string_lossy().into_owned();
    let words = ["probe".to_owned(), "bytes".to_owned(), "--folder".to_owned(), folder];
    Server::start(&Command::new(binary.to_string_lossy(), words))
}

/// Makes what a plan needs. Rows of what cannot be made are left out with the reason. `None` where
/// the plan needs nothing.
pub fn ready(plan: &mut Plan, tell: &dyn Fn(&str)) -> Option<Beside> {
    let sizes = bytes::sizes(plan);
    if sizes.is_empty() {
        return None;
    }
    let folder = match folder() {
        Ok(folder) => folder,
        Err(why) => {
            sizes.into_iter().for_each(|size| bytes::leave_out(plan, Some(size), &why));
            return None;
        }
    };
    tell(&format!("taskscale: looking through the files of the workload bytes in {}", folder.display()));
    for size in sizes {
        if let Err(why) = bytes::ready(&folder, size) {
            bytes::leave_out(plan, Some(size), &why);
        }
    }
    let mut server = None;
    if bytes::needs_server(plan) {
        match self::server(&folder) {
            Ok(started) => server = Some(started),
            Err(why) => bytes::leave_out(plan, None, &why),
        }
    }
    Some(Beside { folder, server })
}

impl Beside {
    /// What probes are told.
    pub fn environment(&self) -> Vec<(String, String)> {
        environment(&self.folder, self.server.as_ref())
    }

    /// The process of the server.
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Server::pid)
    }
}

/// Small files in a folder of their own, with a server, for the check of a probe.
#[derive(Debug)]
pub struct Given {
    folder: TempDir,
    server: Server,
}

impl Given {
    /// Has `make` make each file.
    ///
    /// # Errors
    /// One cannot be made, or the server does not come up.
    pub fn new(make: impl Fn(&Path, u64) -> Result<(), Missing>) -> Result<Given, Missing> {
        let folder = folders::scratch()?;
        bytes::CHECKED.into_iter().try_for_each(|size| make(folder.path(), size))?;
        let server = server(folder.path())?;
        Ok(Given { folder, server })
    }

    /// What a probe is told.
    pub fn environment(&self) -> Vec<(String, String)> {
        environment(self.folder.path(), Some(&self.server))
    }
}

/// The variables by which probes find a folder and its server.
pub fn environment(folder: &Path, server: Option<&Server>) -> Vec<(String, String)> {
    let folder = (FOLDER.to_owned(), folder.to_string_lossy().into_owned());
    let url = server.map(|server| (URL.to_owned(), server.url().to_owned()));
    std::iter::once(folder).chain(url).collect()
}
