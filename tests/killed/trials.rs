//! The trials.

use std::path::PathBuf;
use std::time::Duration;

use libtest_mimic::Failed;

use crate::audit::{self, Counts};
use crate::effects::Effects;
use crate::lives::Life;
use crate::points::Point;

/// How many kills at random instants, at least.
const RANDOM_KILLS: usize = 300;

/// A folder that is gone afterwards.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn say(line: &str) {
    println!("{line}");
}

/// A worker is killed at one point, its first, second, third … time there, in life after life until all is done.
pub(crate) fn named_points() -> Result<(), Failed> {
    for point in Point::ALL {
        let folder = folder();
        let file: PathBuf = folder.path().join("journal.db");
        let effects = Effects::spawn();
        let mut kills = 0;
        // Each life comes one place further than the one before it, or a few.
        while Life::begin(&file, effects.port, Some((point, 1 + kills % 3))).kill_when_stopped() {
            kills += 1;
            assert!(kills < 1000, "no life gets any further");
        }
        let Counts { operations, released, effects, repeats, attempts } = audit::check(&file, &effects.report());
        say(&format!(
            "killed at {}: {kills} kills, {attempts} attempts, {operations} operations, {released} results released, \
             {effects} effects, {repeats} of them repeats under the same key",
            point.name()
        ));
        assert!(kills >= 6, "{} was hardly reached", point.name());
        match point {
            // The effect happened and its commit did not.
            Point::AfterEffect | Point::BeforeCommit => assert!(repeats > 0, "the window was never hit"),
            // With two calls at once, the other one's may be open.
            Point::BeforeCall | Point::AfterCommit => {}
            Point::BeforeCheckpoint | Point::AfterCheckpoint => assert_eq!(repeats, 0, "all was committed before"),
        }
    }
    Ok(())
}

/// Two workers at once, each killed at an instant that has nothing to do with what it does.
pub(crate) fn random_instants() -> Result<(), Failed> {
    let mut total = Counts::default();
    let (mut kills, mut journals, mut draw) = (0, 0, Draw(7));
    while kills < RANDOM_KILLS {
        let folder = folder();
        let file: PathBuf = folder.path().join("journal.db");
        let effects = Effects::spawn();
        loop {
            let lives = [(); 2].map(|()| Life::begin(&file, effects.port, None));
            let times = [(); 2].map(|()| Duration::from_micros(draw.below(60_000)));
            let [first, second] = lives;
            let (short, long) = (times[0].min(times[1]), times[0].max(times[1]));
            let ended = [first.kill_after(short), second.kill_after(long - short)];
            kills += ended.iter().filter(|ended| !**ended).count();
            if ended.contains(&true) {
                break;
            }
        }
        Life::begin(&file, effects.port, None).end();
        let counts = audit::check(&file, &effects.report());
        total.operations += counts.operations;
        total.released += counts.released;
        total.effects += counts.effects;
        total.repeats += counts.repeats;
        total.attempts += counts.attempts;
        journals += 1;
    }
    let Counts { operations, released, effects, repeats, attempts } = total;
    say(&format!(
        "killed at random instants: {kills} kills over {journals} journals, {attempts} attempts, {operations} operations, \
         {released} results released, {effects} effects, {repeats} of them repeats under the same key"
    ));
    Ok(())
}

/// A small generator of its own, so that the instants are the same each time as far as they can be.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
