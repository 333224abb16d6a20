//! What hosts are called, by their addresses.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

/// The names of hosts. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Names {
    by_address: Arc<Mutex<BTreeMap<IpAddr, Arc<str>>>>,
}

impl Names {
    pub(crate) fn give(&self, address: IpAddr, name: &str) {
        self.by_address.lock().insert(address, name.into());
    }

    /// The name at an address, or the address itself.
    pub(super) fn at(&self, address: IpAddr) -> Arc<str> {
        let name = self.by_address.lock().get(&address).cloned();
        name.unwrap_or_else(|| address.to_string().into())
    }
}
