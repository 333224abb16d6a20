//! The cassettes of one case, and who is answered from them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use windtunnel_core::json::Path;
use windtunnel_fixtures::matching::{JsonPath, Order};

use super::Library;
use super::recorded::{Recorded, RecordedTraffic, RecordedTurn};
use super::wire::{WireReplay, WireTiming};
use crate::case::build::Refusal;
use crate::case::suggestion::known;

/// The cassettes of one case. Whoever names the same file is answered from the same entries.
#[derive(Debug, Default)]
pub(in crate::case) struct Shelf {
    pub(super) cassettes: Vec<OnShelf>,
    pub(super) order: Order,
    pub(super) keeps_times: bool,
    pub(super) ignored: Vec<JsonPath>,
    pub(super) allows_unconsumed: bool,
    /// A fault may lead where nothing was recorded.
    pub(super) allows_missed_after_faults: bool,
}

/// A cassette, and where the case names it.
#[derive(Debug)]
pub(super) struct OnShelf {
    pub(super) recorded: Arc<Recorded>,
    /// For the model.
    pub(super) model: Option<Path>,
    /// For its tools.
    pub(super) tools: BTreeMap<String, Path>,
}

impl Shelf {
    /// How long the model of a cassette takes at the most.
    pub(in crate::case) fn slowest(&self, cassette: usize) -> Duration {
        let cassette = self.cassettes.get(cassette).filter(|_| self.keeps_times);
        cassette.map(|cassette| cassette.recorded.slowest()).unwrap_or_default()
    }
}

/// Collects what a case names.
pub(in crate::case) struct ShelfBuilder<'l> {
    library: &'l Library,
    shelf: Shelf,
    /// Where the case says how cassettes are replayed, if it does.
    told_at: Option<Path>,
}

impl<'l> ShelfBuilder<'l> {
    /// Nothing yet; `path` is where the case says how cassettes are replayed.
    pub(in crate::case) fn new(library: &'l Library, wire: Option<WireReplay>, path: Path) -> Result<Self, Refusal> {
        let told_at = wire.is_some().then(|| path.clone());
        let WireReplay { order, timing, ignore, allow_unconsumed, allow_missed_after_faults } =
            wire.unwrap_or_default();
        let mut ignored = Vec::with_capacity(ignore.len());
        for (index, text) in ignore.iter().enumerate() {
            let refuse = |error| {
                let path = path.clone().member("ignore").element(index);
                Refusal::new(path, format!("this is no JSON path, such as $.request.tools: {error}"))
            };
            ignored.push(JsonPath::parse(text).map_err(refuse)?);
        }
        let shelf = Shelf {
            cassettes: Vec::new(),
            order: order.into(),
            keeps_times: timing == WireTiming::Recorded,
            ignored,
            allows_unconsumed: allow_unconsumed,
            allows_missed_after_faults: allow_missed_after_faults,
        };
        Ok(Self { library, shelf, told_at })
    }

    /// The model is answered from the cassette that is named at `path`.
    pub(in crate::case) fn model(&mut self, name: &str, path: &Path) -> Result<usize, Refusal> {
        let index = self.cassette(name, path)?;
        let cassette = &mut self.shelf.cassettes[index];
        if cassette.recorded.model == RecordedTraffic::Absent {
            let entries = cassette.recorded.entries().len();
            let problem = format!("{name:?} holds nothing that a model said, in {entries} entries");
            return Err(Refusal::new(path.clone(), problem));
        }
        cassette.model = Some(path.clone());
        Ok(index)
    }

    /// A tool is answered from the cassette that is named at `path`.
    pub(in crate::case) fn tool(&mut self, name: &str, tool: &str, path: &Path) -> Result<usize, Refusal> {
        let index = self.cassette(name, path)?;
        let cassette = &mut self.shelf.cassettes[index];
        let names = cassette.recorded.tool_names();
        if !names.contains(&tool) {
            let listed = if names.is_empty() { "it holds no calls of tools".to_owned() } else { known(tool, &names) };
            let problem = format!("in {name:?} the tool {tool:?} is neither called nor on offer; {listed}");
            return Err(Refusal::new(path.clone(), problem));
        }
        cassette.tools.insert(tool.to_owned(), path.clone());
        Ok(index)
    }

    /// As [`Self::tool`], for the tool at `path`; that it has any of the other `ways` to answer is refused.
    pub(in crate::case) fn tool_without(
        &mut self,
        ways: &[(&str, bool)],
        name: &str,
        tool: &str,
        path: &Path,
    ) -> Result<usize, Refusal> {
        if let Some((way, _)) = ways.iter().find(|(_, is_told)| *is_told) {
            let problem = "a tool is answered from its cassette and from nothing else; remove one of them";
            return Err(Refusal::new(path.clone().member(*way), problem));
        }
        self.tool(name, tool, &path.clone().member("cassette"))
    }

    /// What was said of a tool when it was on offer: its description and the schema of its arguments.
    pub(in crate::case) fn offered(&self, cassette: usize, tool: &str) -> Option<(&str, &Value)> {
        self.shelf.cassettes.get(cassette)?.recorded.offered(tool)
    }

    /// What the model says, in the order of the entries.
    pub(in crate::case) fn turns(&self, cassette: usize) -> Vec<RecordedTurn> {
        self.shelf.cassettes.get(cassette).map(|cassette| cassette.recorded.turns()).unwrap_or_default()
    }

    pub(in crate::case) fn finish(self) -> Result<Shelf, Refusal> {
        match self.told_at {
            Some(path) if self.shelf.cassettes.is_empty() => {
                Err(Refusal::new(path, "nothing of this case is answered from a cassette; name one, or remove it"))
            }
            _ => Ok(self.shelf),
        }
    }

    fn cassette(&mut self, name: &str, path: &Path) -> Result<usize, Refusal> {
        let recorded = self.library.read(name).map_err(|problem| Refusal::new(path.clone(), problem))?;
        let is_it = |cassette: &OnShelf| Arc::ptr_eq(&cassette.recorded, &recorded);
        Ok(self.shelf.cassettes.iter().position(is_it).unwrap_or_else(|| {
            self.shelf.cassettes.push(OnShelf { recorded, model: None, tools: BTreeMap::new() });
            self.shelf.cassettes.len() - 1
        }))
    }
}
