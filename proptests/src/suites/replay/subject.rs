//! The trait that an adapter implements.

use futures_util::future::LocalBoxFuture;
use windtunnel_core::env::Env;

use super::LiveService;
use crate::cases::{ReplayAnswer, ReplayCall, ReplayOrder};
use crate::played::HandClock;
use crate::suites::{Stalled, drive};

/// Something that records calls and replays them: of tools, of models, or of anything that is asked and answers.
///
/// A recorder that keeps all in memory, and forgets what it has given out:
///
/// ```
/// use std::cell::RefCell;
/// use windtunnel_core::env::Env;
/// use windtunnel_proptests::cases::{ReplayAnswer, ReplayCall};
/// use windtunnel_proptests::suites::{LiveService, Replayed, ReplayFeature, ReplayRest, ReplaySetup, ReplaySubject};
/// use windtunnel_proptests::suites::{Settings, replay_suite};
///
/// struct Mine;
///
/// type Entries = Vec<(ReplayCall, ReplayAnswer)>;
///
/// impl ReplaySubject for Mine {
///     type Recorder = (LiveService, RefCell<Entries>);
///     type Recording = Entries;
///     type Player = Entries;
///
///     fn features(&self) -> Vec<ReplayFeature> {
///         use ReplayFeature::*;
///         vec![KeyedOrder, Lanes, Streams, Failures, KnownSecrets]
///     }
///
///     fn recorder(&self, live: LiveService, _: &ReplaySetup, _: Env) -> Self::Recorder {
///         (live, RefCell::default())
///     }
///
///     async fn record(&self, (live, entries): &Self::Recorder, call: &ReplayCall) -> ReplayAnswer {
///         let answer = live.call(call).await;
///         entries.borrow_mut().push((call.clone(), answer.clone()));
///         answer
///     }
///
///     fn finish(&self, (_, entries): Self::Recorder) -> Result<Entries, String> {
///         Ok(entries.into_inner())
///     }
///
///     fn bytes(&self, recording: &Entries) -> Vec<u8> {
///         format!("{recording:?}").into_bytes()
///     }
///
///     fn player(&self, recording: &Entries, _: LiveService, _: &ReplaySetup, _: Env) -> Result<Entries, String> {
///         Ok(recording.clone())
///     }
///
///     async fn replay(&self, player: &Entries, call: &ReplayCall) -> Replayed {
///         let found = player.iter().find(|(recorded, _)| recorded.is(call));
///         found.map_or(Replayed::Miss("not recorded".to_owned()), |(_, answer)| Replayed::Answer(answer.clone()))
///     }
///
///     fn rest(&self, _: Entries) -> ReplayRest {
///         ReplayRest::default()
///     }
/// }
///
/// let report = replay_suite().run("mine", &Mine, &Settings::default());
/// assert!(report.broken().contains(&"once"), "{report}");
/// ```
pub trait ReplaySubject: 'static {
    /// What records.
    type Recorder;

    /// What was recorded: a file, or whatever a replay is made from.
    type Recording;

    /// What replays.
    type Player;

    /// What it has. A point about a feature that is not named here is not applicable. All by default.
    fn features(&self) -> Vec<ReplayFeature> {
        ReplayFeature::ALL.to_vec()
    }

    /// Begins to record calls that `live` answers.
    fn recorder(&self, live: LiveService, setup: &ReplaySetup, env: Env) -> Self::Recorder;

    /// Makes one call, and records it. Gives what its caller gets.
    fn record(&self, recorder: &Self::Recorder, call: &ReplayCall) -> impl Future<Output = ReplayAnswer>;

    /// Ends the recording.
    ///
    /// # Errors
    /// Why there is none.
    fn finish(&self, recorder: Self::Recorder) -> Result<Self::Recording, String>;

    /// All that is written of a recording.
    fn bytes(&self, recording: &Self::Recording) -> Vec<u8>;

    /// Begins to replay. `live` is what it would ask if it asked anybody; most need it for nothing.
    ///
    /// # Errors
    /// Why it cannot be replayed.
    fn player(
        &self,
        recording: &Self::Recording,
        live: LiveService,
        setup: &ReplaySetup,
        env: Env,
    ) -> Result<Self::Player, String>;

    /// Makes one call of a replay.
    fn replay(&self, player: &Self::Player, call: &ReplayCall) -> impl Future<Output = Replayed>;

    /// Ends a replay, and says what is left.
    fn rest(&self, player: Self::Player) -> ReplayRest;

    /// Runs a future: on this thread, and on a clock that moves when it can only wait, unless an adapter says otherwise.
    ///
    /// # Errors
    /// [`Stalled`], if it does not end.
    fn drive(&self, clock: &HandClock, future: LocalBoxFuture<'_, ()>) -> Result<(), Stalled> {
        drive(clock, future)
    }
}

/// How is recorded and replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaySetup {
    /// Whether the order of calls counts.
    pub order: ReplayOrder,
    /// Texts that must not be in the recording, beside those that look like secrets.
    pub secrets: Vec<String>,
}

/// What a call of a replay comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// An answer.
    Answer(ReplayAnswer),
    /// It was not recorded; with what is said of that.
    Miss(String),
}

/// What a replay says at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayRest {
    /// How many entries were never asked for.
    pub left: usize,
    /// How many calls were misses.
    pub missed: usize,
}

/// What a record/replay system may have. Whoever lacks one says so in [`ReplaySubject::features`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplayFeature {
    /// [`ReplayOrder::Strict`].
    StrictOrder,
    /// [`ReplayOrder::Keyed`].
    KeyedOrder,
    /// Lanes of calls at once.
    Lanes,
    /// Answers in pieces.
    Streams,
    /// Errors as answers.
    Failures,
    /// It says what is left at the end ([`ReplaySubject::rest`]).
    Leftovers,
    /// Secrets that it is told are not recorded ([`ReplaySetup::secrets`]).
    Redaction,
    /// It finds secrets of well-known forms by itself.
    KnownSecrets,
}

impl ReplayFeature {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::StrictOrder,
        Self::KeyedOrder,
        Self::Lanes,
        Self::Streams,
        Self::Failures,
        Self::Leftovers,
        Self::Redaction,
        Self::KnownSecrets,
    ];

    /// What a subject without it lacks.
    pub fn name(self) -> &'static str {
        match self {
            Self::StrictOrder => "strict order",
            Self::KeyedOrder => "free order",
            Self::Lanes => "lanes",
            Self::Streams => "streams",
            Self::Failures => "errors as answers",
            Self::Leftovers => "a word on what is left",
            Self::Redaction => "redaction",
            Self::KnownSecrets => "an eye for secrets",
        }
    }
}

/// Whether the subject has the feature.
pub(super) fn has<S: ReplaySubject>(subject: &S, feature: ReplayFeature) -> bool {
    subject.features().contains(&feature)
}
