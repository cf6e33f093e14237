//! Which core serves, and which one asks.

use std::thread;

use core_affinity::CoreId;

/// Two of the cores that this process may run on, as far as there are two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cores {
    server: Option<CoreId>,
    client: Option<CoreId>,
}

impl Cores {
    pub(super) fn choose() -> Self {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        Self {
            server: cores.first().copied(),
            client: cores.get(1).copied(),
        }
    }

    /// Number of the servers' core.
    pub(super) fn server(&self) -> Option<u64> {
        self.server.map(|core| core.id as u64)
    }

    /// Whether client and server take turns on one core.
    pub(super) fn shared(&self) -> bool {
        self.client.is_none()
    }

    /// Works on the clients' core.
    pub(super) fn as_client<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        on(self.client, work)
    }

    /// Works on the servers' core; a process that is started there stays there.
    pub(super) fn as_server<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        on(self.server, work)
    }
}

fn on<T: Send>(core: Option<CoreId>, work: impl FnOnce() -> T + Send) -> T {
    let work = || {
        if let Some(core) = core {
            core_affinity::set_for_current(core);
        }
        work()
    };
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
