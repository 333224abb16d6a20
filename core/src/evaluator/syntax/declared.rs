//! What a name means in version 2.

use super::tree::NameId;

/// The definitions of a program, and the parameters of the one that is being read.
#[derive(Default)]
pub(super) struct Declared {
    /// By name.
    places: Vec<Place>,
    definitions: Vec<NameId>,
    scope: u32,
    params: Vec<NameId>,
}

#[derive(Clone, Default)]
struct Place {
    /// The definition called so.
    definition: Option<u32>,
    /// The last scope with a parameter called so, and which one it is: so no scope has to be cleared.
    param: Option<(u32, u32)>,
}

impl Declared {
    /// Declares the `number`th definition, unless there is one of that name.
    pub(super) fn define(&mut self, name: NameId, number: u32) -> bool {
        let place = self.place(name);
        let is_new = place.definition.is_none();
        if is_new {
            place.definition = Some(number);
            self.definitions.push(name);
        }
        is_new
    }

    /// Which definition is called so.
    pub(super) fn definition(&self, name: NameId) -> Option<u32> {
        self.places.get(name.0 as usize)?.definition
    }

    /// The names of all definitions.
    pub(super) fn definitions(&self) -> &[NameId] {
        &self.definitions
    }

    /// From here on, other parameters are in scope: none yet. No number of a scope comes twice.
    pub(super) fn enter(&mut self, scope: u32) {
        self.scope = scope;
        self.params.clear();
    }

    /// Declares the next parameter, unless there is one of that name.
    pub(super) fn add_param(&mut self, name: NameId) -> bool {
        let is_new = self.param(name).is_none();
        let param = (self.scope, u32::try_from(self.params.len()).unwrap_or(u32::MAX));
        self.place(name).param = Some(param);
        self.params.push(name);
        is_new
    }

    /// Which parameter in scope is called so.
    pub(super) fn param(&self, name: NameId) -> Option<u32> {
        let (scope, index) = self.places.get(name.0 as usize)?.param?;
        (scope == self.scope).then_some(index)
    }

    /// The names of the parameters in scope.
    pub(super) fn params(&self) -> &[NameId] {
        &self.params
    }

    fn place(&mut self, name: NameId) -> &mut Place {
        let place = name.0 as usize;
        if self.places.len() <= place {
            self.places.resize(place + 1, Place::default());
        }
        &mut self.places[place]
    }
}
