//! The tool cache (E11).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::flow::{Flow, guarded};
use crate::BoxError;
use crate::causes;
use crate::env::Env;
use crate::json;
use crate::tool::{CacheScope, PreparedTool};

/// Keeps the values of tools for a while.
pub trait Cache: Send + Sync {
    /// The value under `key`, if it is still fresh.
    ///
    /// # Errors
    /// Any error is a miss.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Value>, BoxError>>;

    /// Keeps `value` under `key` for `ttl`.
    ///
    /// # Errors
    /// Any error is logged; the call keeps its value.
    fn put<'a>(&'a self, key: &'a str, value: Value, ttl: Duration) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// A shared cache.
impl<T: Cache + ?Sized> Cache for Arc<T> {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        (**self).get(key)
    }

    fn put<'a>(&'a self, key: &'a str, value: Value, ttl: Duration) -> BoxFuture<'a, Result<(), BoxError>> {
        (**self).put(key, value, ttl)
    }
}

/// A cache in memory, on an environment's clock, that keeps at most a fixed number of values.
///
/// ```
/// use windtunnel_core::env::Env;
/// use windtunnel_core::executor::MemoryCache;
///
/// let cache = MemoryCache::new(Env::system(), 10_000);
/// ```
pub struct MemoryCache {
    env: Env,
    entries_max: usize,
    store: Mutex<Store>,
}

#[derive(Default)]
struct Store {
    entries: BTreeMap<String, Entry>,
    /// The keys by the time they expire, then by the order they came.
    expiries: BTreeMap<(Duration, u64), String>,
    puts: u64,
}

struct Entry {
    value: Value,
    expiry: (Duration, u64),
}

impl MemoryCache {
    /// An empty cache. Past `entries_max`, the value that expires first goes.
    pub fn new(env: Env, entries_max: usize) -> Self {
        Self { env, entries_max, store: Mutex::default() }
    }
}

impl Store {
    fn remove(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.expiries.remove(&entry.expiry);
        }
    }

    /// A value is fresh while less than its ttl has passed.
    fn get(&mut self, key: &str, now: Duration) -> Option<Value> {
        let entry = self.entries.get(key)?;
        if now < entry.expiry.0 {
            return Some(entry.value.clone());
        }
        self.remove(key);
        None
    }

    fn put(&mut self, key: &str, value: Value, expires: Duration, entries_max: usize) {
        self.remove(key);
        self.puts += 1;
        let expiry = (expires, self.puts);
        self.entries.insert(key.to_owned(), Entry { value, expiry });
        self.expiries.insert(expiry, key.to_owned());
        while self.entries.len() > entries_max {
            if let Some((_, first)) = self.expiries.pop_first() {
                self.entries.remove(&first);
            }
        }
    }
}

impl Cache for MemoryCache {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async move { Ok(self.store.lock().get(key, self.env.now())) })
    }

    fn put<'a>(&'a self, key: &'a str, value: Value, ttl: Duration) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let expires = self.env.now().saturating_add(ttl);
            self.store.lock().put(key, value, expires, self.entries_max);
            Ok(())
        })
    }
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryCache").field("entries", &self.store.lock().entries.len()).finish_non_exhaustive()
    }
}

/// Where the value of one call is cached.
pub(super) struct CacheSlot<'a> {
    cache: &'a dyn Cache,
    key: String,
    ttl: Duration,
}

impl Flow<'_> {
    /// The slot of a tool that has a ttl, if there is a cache.
    pub(super) fn cache_slot(&self, tool: &PreparedTool, arguments: &Value) -> Option<CacheSlot<'_>> {
        let ttl = tool.spec().cache_ttl?;
        let cache = self.executor.context.ports.cache.as_ref().or(self.engine.ports.cache.as_ref())?;
        let scope = match tool.spec().cache_scope {
            CacheScope::Run => json!(["run", &*self.run.id]),
            CacheScope::Global => json!(["global", tool.schema_digest()]),
        };
        let key = json::digest(&json!([scope, &*self.identity.tool, arguments]));
        Some(CacheSlot { cache: &**cache, key, ttl })
    }

    /// The cached value. An error of the cache is a miss.
    pub(super) async fn cached(&self, slot: Option<&CacheSlot<'_>>) -> Option<Value> {
        let CacheSlot { cache, key, .. } = slot?;
        guarded(async { cache.get(key).await }).await.unwrap_or_else(|error| {
            self.log_cache_error(&error);
            None
        })
    }

    /// Keeps the tool's own value, before the after-hooks.
    pub(super) async fn keep(&self, slot: Option<&CacheSlot<'_>>, value: &Value) {
        let Some(CacheSlot { cache, key, ttl }) = slot else { return };
        if let Err(error) = guarded(async { cache.put(key, value.clone(), *ttl).await }).await {
            self.log_cache_error(&error);
        }
    }

    fn log_cache_error(&self, error: &BoxError) {
        tracing::warn!(tool = &*self.identity.tool, "the cache failed: the call goes on without it");
        tracing::debug!(cause = causes::text(&**error), "the cache's error");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_value_lives_for_less_than_its_ttl() {
        let mut store = Store::default();
        store.put("k", json!(1), SECOND, 8);
        assert_eq!(store.get("k", SECOND - Duration::from_nanos(1)), Some(json!(1)));
        assert_eq!(store.get("k", SECOND), None);
        assert!(store.entries.is_empty() && store.expiries.is_empty());
    }

    #[test]
    fn putting_again_starts_the_ttl_again() {
        let mut store = Store::default();
        store.put("k", json!(1), SECOND, 8);
        store.put("k", json!(2), 2 * SECOND, 8);
        assert_eq!(store.get("k", SECOND), Some(json!(2)));
        assert_eq!(store.expiries.len(), 1);
    }

    #[test]
    fn past_the_bound_the_first_to_expire_goes() {
        let mut store = Store::default();
        store.put("late", json!(1), 3 * SECOND, 2);
        store.put("early", json!(2), SECOND, 2);
        store.put("new", json!(3), 2 * SECOND, 2);
        assert_eq!(store.get("early", Duration::ZERO), None);
        assert_eq!(store.entries.len(), 2);
        store.put("none", json!(4), SECOND, 0);
        assert!(store.entries.is_empty() && store.expiries.is_empty());
    }

    #[test]
    fn of_those_that_expire_at_once_the_first_that_came_goes() {
        let mut store = Store::default();
        for (key, number) in [("a", 1), ("b", 2), ("c", 3)] {
            store.put(key, json!(number), SECOND, 2);
        }
        let kept = ["a", "b", "c"].map(|key| store.get(key, Duration::ZERO));
        assert_eq!(kept, [None, Some(json!(2)), Some(json!(3))]);
    }
}
