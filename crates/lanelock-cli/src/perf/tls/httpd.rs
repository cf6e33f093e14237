//! Apache httpd with a thread for each handshake, one process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::server::{Row, Setup, Site, quoted};

pub(super) const ROW: Row = Row::new("httpd", "apache2", "apache2-bin", configure);

/// Where distributions put its modules.
const MODULES: [&str; 3] = [
    "/usr/lib/apache2/modules",
    "/usr/lib64/httpd/modules",
    "/usr/lib/httpd/modules",
];

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let path = site.folder.join("httpd.conf");
    let folder = quoted(&site.folder);
    let threads = setup.connections.max(8);
    let modules = modules()?;
    let mut text = String::new();
    for (name, file) in [
        ("mpm_event_module", "mod_mpm_event.so"),
        ("authz_core_module", "mod_authz_core.so"),
        ("ssl_module", "mod_ssl.so"),
    ] {
        text += &format!("LoadModule {name} {}\n", quoted(&modules.join(file)));
    }
    // Root's serves as nobody, whatever the names are here; other users cannot choose.
    text += "User #65534\nGroup #65534\n";
    text += &format!(
        "ServerName localhost\nServerRoot {folder}\nDefaultRuntimeDir {folder}\nPidFile {}\n\
         ErrorLog {}\nLogLevel crit\nDocumentRoot {folder}\nListen {}\nListenBacklog 4096\n\
         StartServers 1\nServerLimit 1\nThreadLimit {threads}\nThreadsPerChild {threads}\n\
         MaxRequestWorkers {threads}\nMinSpareThreads 1\nMaxSpareThreads {threads}\n\
         KeepAlive Off\nSSLSessionCache none\nSSLSessionTickets off\nSSLEngine on\n\
         SSLProtocol -all +TLSv{}\nSSLCertificateFile {}\n",
        quoted(&site.folder.join("pid")),
        quoted(&site.folder.join("error.log")),
        site.address,
        setup.version.name(),
        quoted(&site.folder.join("server.pem")),
    );
    fs::write(&path, text)?;
    // One process, which is the one that was started.
    Ok(["-X", "-f", &path.display().to_string()]
        .map(str::to_owned)
        .into())
}

fn modules() -> io::Result<PathBuf> {
    let found = MODULES.iter().map(Path::new).find(|path| path.is_dir());
    found.map(Path::to_owned).ok_or_else(|| {
        io::Error::other(format!(
            "none of its folders of modules is there: {}",
            MODULES.join(", ")
        ))
    })
}
