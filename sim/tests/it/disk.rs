//! Disks: what survives a crash, a power cut and what else goes wrong.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use windtunnel_sim::{Disk, File, Host, Process, World, WorldHandle};

const RECORDS: usize = 4;
const RECORD_BYTES: usize = 600;
const CHECKED_BYTES: usize = RECORD_BYTES - 8;

/// What a guest has said, and what it found when it began.
#[derive(Clone, Default)]
struct Notes {
    acknowledged: Arc<Mutex<usize>>,
    recovered: Arc<Mutex<Vec<usize>>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Care {
    Syncs,
    Forgets,
}

fn record(number: usize) -> Vec<u8> {
    let mut bytes = vec![number as u8 + 1; CHECKED_BYTES];
    bytes.extend(sum(&bytes).to_le_bytes());
    bytes
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn count_valid(log: &[u8]) -> usize {
    log.chunks(RECORD_BYTES).enumerate().take_while(|(number, bytes)| *bytes == record(*number)).count()
}

/// A write-ahead log: what it acknowledges is there for good, if it takes care.
async fn keep_log(process: Process, care: Care, notes: Notes) {
    while append(&process.disk(), care, &notes).await.is_err() {
        process.env().sleep(Duration::from_micros(300)).await;
    }
}

async fn append(disk: &Disk, care: Care, notes: &Notes) -> io::Result<()> {
    let mut log = disk.options().read(true).append(true).create(true).open("/log").await?;
    let mut bytes = Vec::new();
    log.read_to_end(&mut bytes).await?;
    let valid = count_valid(&bytes);
    log.set_len((valid * RECORD_BYTES) as u64).await?;
    if care == Care::Syncs {
        log.sync_all().await?;
        disk.sync_dir("/").await?;
    }
    notes.recovered.lock().push(valid);
    acknowledge(valid, notes);
    for number in valid..RECORDS {
        let record = record(number);
        let (head, tail) = record.split_at(8);
        log.write_all(head).await?;
        log.write_all(tail).await?;
        if care == Care::Syncs {
            log.sync_all().await?;
        }
        acknowledge(number + 1, notes);
    }
    Ok(())
}

fn acknowledge(records: usize, notes: &Notes) {
    let mut acknowledged = notes.acknowledged.lock();
    *acknowledged = records.max(*acknowledged);
}

/// What was acknowledged when the first life ended, and what the next one found.
fn lives(seed: u64, care: Care, at: Duration, trouble: impl Fn(&Host) + Send + Sync) -> (usize, usize) {
    let run = World::new(seed).run(|world| async move {
        let host = world.host("a").unwrap();
        let notes = Notes::default();
        let kept = notes.clone();
        host.start(move |process| keep_log(process, care, kept.clone()));
        world.env().sleep(at).await;
        trouble(&host);
        if host.is_up() {
            world.env().sleep(Duration::from_millis(2)).await;
            host.power_cut();
        }
        let acknowledged = *notes.acknowledged.lock();
        notes.recovered.lock().clear();
        host.heal_disk();
        host.restart();
        world.env().sleep(Duration::from_secs(1)).await;
        assert_eq!(*notes.acknowledged.lock(), RECORDS, "the next life finishes");
        assert_eq!(count_valid(&host.process().disk().read("/log").await.unwrap()), RECORDS);
        (acknowledged, notes.recovered.lock()[0])
    });
    run.outcome.unwrap()
}

/// Between all steps of a guest, which come every 10 µs at most, to the end of its work.
fn instants() -> impl Iterator<Item = Duration> {
    (0..650).map(|step| Duration::from_micros(10 * step + 5))
}

#[test]
fn a_log_that_syncs_survives_an_end_at_every_step() {
    let troubles: [fn(&Host); 3] = [Host::crash, Host::power_cut, |host| {
        host.tear_write();
        host.power_cut();
    }];
    let mut acknowledged_before = BTreeSet::new();
    for (step, at) in instants().enumerate() {
        for trouble in troubles {
            let (acknowledged, recovered) = lives(step as u64, Care::Syncs, at, trouble);
            assert!(recovered >= acknowledged, "{acknowledged} acknowledged, {recovered} left, after {at:?}");
            acknowledged_before.insert(acknowledged);
        }
    }
    assert_eq!(acknowledged_before, (0..=RECORDS).collect(), "there were ends between all records");
}

#[test]
fn a_log_that_syncs_survives_a_full_and_a_failing_disk() {
    for (step, at) in instants().enumerate().step_by(3) {
        for trouble in [Host::fill_disk, Host::fail_disk] {
            let (acknowledged, recovered) = lives(step as u64, Care::Syncs, at, trouble);
            assert!(recovered >= acknowledged, "{acknowledged} acknowledged, {recovered} left, after {at:?}");
        }
    }
}

#[test]
fn a_log_that_does_not_sync_survives_a_crash_and_loses_at_a_power_cut() {
    let at = Duration::from_millis(1);
    let mut left = BTreeSet::new();
    for seed in 0..50 {
        assert_eq!(lives(seed, Care::Forgets, at, Host::crash), (RECORDS, RECORDS));
        let (acknowledged, recovered) = lives(seed, Care::Forgets, at, Host::power_cut);
        assert_eq!(acknowledged, RECORDS);
        left.insert(recovered);
    }
    assert!(left.contains(&0) && left.len() > 2, "{left:?}");
}

#[test]
fn a_disk_that_loses_flushes_loses_what_even_a_careful_log_acknowledged() {
    let lost = |at: Duration, seed| {
        let run = World::new(seed).run(move |world| async move {
            let (host, notes) = (world.host("a").unwrap(), Notes::default());
            let kept = notes.clone();
            host.start(move |process| keep_log(process, Care::Syncs, kept.clone()));
            world.env().sleep(at).await;
            host.lose_flushes();
            world.env().sleep(Duration::from_secs(1)).await;
            host.power_cut();
            assert_eq!(*notes.acknowledged.lock(), RECORDS);
            host.heal_disk();
            notes.recovered.lock().clear();
            host.restart();
            world.env().sleep(Duration::from_secs(1)).await;
            RECORDS - notes.recovered.lock()[0]
        });
        run.outcome.unwrap()
    };
    assert!((0..20).any(|seed| lost(Duration::ZERO, seed) == RECORDS));
    assert!((0..20).all(|seed| lost(Duration::from_millis(100), seed) == 0), "what was synced before stays");
}

/// Writes and syncs, cuts the power, and gives what is left.
async fn left_by_syncs(world: &WorldHandle, prepare: impl Fn(&Host), heal_before_second: bool) -> Vec<u8> {
    let host = world.host("a").unwrap();
    let disk = host.process().disk();
    let mut file = disk.create("/f").await.unwrap();
    file.sync_all().await.unwrap();
    disk.sync_dir("/").await.unwrap();
    prepare(&host);
    for text in [b"one", b"two"] {
        file.write_all(text).await.unwrap();
        file.sync_all().await.unwrap();
        if heal_before_second {
            host.heal_disk();
        }
    }
    host.power_cut();
    host.restart();
    host.process().disk().read("/f").await.unwrap()
}

#[test]
fn a_flush_may_be_lost_alone() {
    let left = |seed| {
        let run = World::new(seed).run(|world| async move {
            let host = world.host("a").unwrap();
            let disk = host.process().disk();
            for path in ["/one", "/two"] {
                disk.write(path, b"").await.unwrap();
            }
            disk.sync_dir("/").await.unwrap();
            host.lose_next_flush();
            for path in ["/one", "/two"] {
                let mut file = disk.options().append(true).open(path).await.unwrap();
                file.write_all(b"text").await.unwrap();
                file.sync_all().await.unwrap();
            }
            host.power_cut();
            host.restart();
            let disk = host.process().disk();
            (disk.read_to_string("/one").await.unwrap(), disk.read_to_string("/two").await.unwrap())
        });
        run.outcome.unwrap()
    };
    let left: BTreeSet<_> = (0..20).map(left).collect();
    let expected = [("", "text"), ("text", "text")].map(|(one, two)| (one.to_owned(), two.to_owned()));
    assert_eq!(left, BTreeSet::from(expected));
}

#[test]
fn the_next_good_sync_makes_up_for_a_lost_one() {
    for seed in 0..20 {
        let run = World::new(seed).run(|world| async move {
            let once = left_by_syncs(&world, Host::lose_next_flush, false).await;
            let healed = left_by_syncs(&world, Host::lose_flushes, true).await;
            (once, healed)
        });
        assert_eq!(run.outcome.unwrap(), (b"onetwo".to_vec(), b"onetwo".to_vec()));
    }
}

/// Saves when it is dropped, in all ways that a destructor has.
struct Saver {
    process: Process,
    file: Option<File>,
}

impl Drop for Saver {
    #[expect(clippy::disallowed_methods, reason = "it is what a library may do")]
    fn drop(&mut self) {
        let mut file = self.file.take().unwrap();
        let (disk, process) = (self.process.disk(), self.process.clone());
        let mut saving = Box::pin(async move {
            file.write_all(b"saved").await?;
            file.sync_all().await?;
            process.disk().write("/other", b"saved").await?;
            disk.sync_dir("/").await
        });
        let _begun = saving.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        tokio::spawn(saving);
        let disk = self.process.disk();
        let _lost = self.process.spawn(async move { disk.write("/task", b"saved").await });
    }
}

/// What there is after a guest that saves in its destructor has been ended.
async fn left_by_a_saver(world: WorldHandle, end: fn(&Host)) -> Vec<String> {
    let host = world.host("a").unwrap();
    let disk = host.process().disk();
    disk.write("/kept", b"").await.unwrap();
    disk.sync_dir("/").await.unwrap();
    let (process, file) = (host.process(), disk.options().append(true).open("/kept").await.unwrap());
    let guest = host.spawn(async move {
        let saver = Saver { process, file: Some(file) };
        saver.process.env().sleep(Duration::from_secs(1)).await;
    });
    world.env().sleep(Duration::from_millis(10)).await;
    end(&host);
    world.env().sleep(Duration::from_secs(2)).await;
    drop(guest);
    host.restart();
    let disk = host.process().disk();
    let mut left = Vec::new();
    for path in disk.read_dir("/").await.unwrap() {
        left.push(format!("{}={}", path.display(), disk.read_to_string(&path).await.unwrap()));
    }
    left
}

#[test]
fn a_destructor_saves_nothing_at_a_crash_or_a_power_cut() {
    for end in [Host::crash, Host::power_cut] {
        let run = World::new(7).run(|world| left_by_a_saver(world, end));
        assert_eq!(run.outcome.unwrap(), ["/kept="]);
    }
    let run = World::new(7).run(|world| left_by_a_saver(world, |_| {}));
    assert_eq!(run.outcome.unwrap(), ["/kept=saved", "/other=saved", "/task=saved"], "it does at a good end");
}

#[test]
fn torn_writes_are_seen_over_seeds() {
    let left = |seed, is_torn: bool| {
        let run = World::new(seed).run(move |world| async move {
            let host = world.host("a").unwrap();
            let disk = host.process().disk();
            disk.write("/f", b"0000").await.unwrap();
            disk.open("/f").await.unwrap().sync_all().await.unwrap();
            disk.sync_dir("/").await.unwrap();
            let mut file = disk.options().write(true).open("/f").await.unwrap();
            file.write_all(b"1111").await.unwrap();
            if is_torn {
                host.tear_write();
            }
            host.power_cut();
            host.restart();
            host.process().disk().read_to_string("/f").await.unwrap()
        });
        run.outcome.unwrap()
    };
    let over_seeds = |is_torn| (0..100).map(|seed| left(seed, is_torn)).collect::<Vec<_>>();
    let expected = ["0001", "0011", "0111", "1000", "1100", "1110"].map(String::from);
    assert_eq!(BTreeSet::from_iter(over_seeds(true)), BTreeSet::from(expected));
    assert_eq!(BTreeSet::from_iter(over_seeds(false)), BTreeSet::from(["0000", "1111"].map(String::from)));
}

#[test]
fn a_full_disk_says_so_until_it_is_healed() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        let disk = host.process().disk();
        disk.write("/f", b"some").await.unwrap();
        let mut file = disk.options().append(true).open("/f").await.unwrap();
        host.fill_disk();
        let full = io::ErrorKind::StorageFull;
        assert_eq!(file.write_all(b"more").await.unwrap_err().kind(), full);
        assert_eq!(disk.create("/g").await.unwrap_err().kind(), full);
        assert_eq!(disk.create_dir("/d").await.unwrap_err().kind(), full);
        assert_eq!(file.set_len(100).await.unwrap_err().kind(), full);
        disk.rename("/f", "/g").await.unwrap();
        file.sync_all().await.unwrap();
        host.heal_disk();
        file.write_all(b"thing").await.unwrap();
        disk.read_to_string("/g").await.unwrap()
    });
    assert_eq!(run.outcome.unwrap(), "something");
}

#[test]
fn a_failing_disk_does_nothing_until_it_is_healed() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        let disk = host.process().disk();
        let mut file = disk.create("/f").await.unwrap();
        host.fail_disk();
        assert!(file.write_all(b"lost").await.is_err() && file.sync_all().await.is_err());
        assert!(disk.read("/f").await.is_err() && disk.remove_file("/f").await.is_err());
        host.restart();
        assert!(host.process().disk().read_dir("/").await.is_err(), "a restart heals nothing");
        host.heal_disk();
        host.process().disk().read("/f").await.unwrap()
    });
    assert_eq!(run.outcome.unwrap(), b"");
}

#[test]
fn names_need_a_sync_of_their_directory_and_contents_one_of_their_file() {
    let left = |seed, synced: &'static [&'static str]| {
        let run = World::new(seed).run(move |world| async move {
            let host = world.host("a").unwrap();
            let disk = host.process().disk();
            disk.write("/f", b"old").await.unwrap();
            disk.open("/f").await.unwrap().sync_all().await.unwrap();
            disk.sync_dir("/").await.unwrap();
            disk.write("/new", b"new").await.unwrap();
            if synced.contains(&"file") {
                disk.open("/new").await.unwrap().sync_all().await.unwrap();
            }
            disk.rename("/new", "/f").await.unwrap();
            if synced.contains(&"directory") {
                disk.open("/").await.unwrap().sync_all().await.unwrap();
            }
            host.power_cut();
            host.restart();
            host.process().disk().read_to_string("/f").await.unwrap()
        });
        run.outcome.unwrap()
    };
    let over_seeds = |synced| (0..60).map(|seed| left(seed, synced)).collect::<BTreeSet<_>>();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(over_seeds(&["file", "directory"]), texts(&["new"]));
    assert_eq!(over_seeds(&["file"]), texts(&["new", "old"]));
    assert_eq!(over_seeds(&["directory"]), texts(&["new", ""]));
    assert_eq!(over_seeds(&[]), texts(&["new", "old", ""]));
}

#[test]
fn the_same_seed_leaves_the_same() {
    let scenario = |world: WorldHandle| async move {
        let mut left = Vec::new();
        for name in ["a", "b"] {
            let host = world.host(name).unwrap();
            for round in 0..3 {
                let disk = host.process().disk();
                disk.create_dir_all(format!("/{round}/d")).await.unwrap();
                for number in 0..5 {
                    disk.write(format!("/{round}/d/{number}"), vec![number; 2_000]).await.unwrap();
                }
                disk.sync_dir(format!("/{round}")).await.unwrap();
                disk.sync_dir("/").await.unwrap();
                host.power_cut();
                host.restart();
                let disk = host.process().disk();
                for path in disk.read_dir(format!("/{round}/d")).await.unwrap() {
                    left.push((path.clone(), disk.read(path).await.unwrap()));
                }
            }
        }
        (left, world.env().now())
    };
    let leave = |seed| World::new(seed).run(scenario).outcome.unwrap();
    let mut distinct = BTreeSet::new();
    for seed in 0..20 {
        let left = leave(seed);
        assert!(left == leave(seed), "seed {seed}");
        distinct.insert(left);
    }
    assert!(distinct.len() > 15, "seeds differ");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is what a library may do")]
fn hosts_do_not_see_each_others_files_in_whatever_task() {
    let run = World::new(7).run(|world| async move {
        let disks = ["a", "b"].map(|name| world.host(name).unwrap().process().disk());
        let task = |disk: Disk, text: &'static str| async move {
            for number in 0..20 {
                disk.write(format!("/{text}{number}"), text).await.unwrap();
            }
            disk.read_dir("/").await.unwrap().iter().all(|path| path.to_str().unwrap().contains(text))
        };
        let [a, b] = disks.clone();
        let (a, b) = (tokio::spawn(task(a, "left")), tokio::spawn(task(b, "right")));
        assert!(a.await.unwrap() && b.await.unwrap());
        let [a, b] = disks;
        (a.try_exists("/left0").await.unwrap(), b.try_exists("/left0").await.unwrap())
    });
    assert_eq!(run.outcome.unwrap(), (true, false));
}

#[test]
fn an_open_file_outlives_its_name_and_not_its_process() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        let disk = host.process().disk();
        let mut file = disk.options().read(true).write(true).create(true).open("/f").await.unwrap();
        disk.remove_file("/f").await.unwrap();
        disk.write("/f", b"another").await.unwrap();
        disk.sync_dir("/").await.unwrap();
        file.write_all(b"hello").await.unwrap();
        file.seek(io::SeekFrom::End(-4)).await.unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).await.unwrap();
        host.crash();
        let silence = world.env().timeout(Duration::from_secs(1), file.write_all(b"more")).await;
        assert!(silence.is_err());
        host.restart();
        (text, host.process().disk().read_to_string("/f").await.unwrap())
    });
    assert_eq!(run.outcome.unwrap(), ("ello".to_owned(), "another".to_owned()));
}

#[test]
fn what_is_written_while_a_sync_runs_is_no_part_of_it() {
    let left = |seed| {
        let run = World::new(seed).run(|world| async move {
            let host = world.host("a").unwrap();
            let disk = host.process().disk();
            let (mut file, other) = (disk.create("/f").await.unwrap(), disk.open("/f").await.unwrap());
            disk.sync_dir("/").await.unwrap();
            file.write_all(b"before").await.unwrap();
            let (synced, written) = tokio::join!(other.sync_all(), file.write_all(b"during"));
            synced.and(written).unwrap();
            host.power_cut();
            host.restart();
            host.process().disk().read_to_string("/f").await.unwrap()
        });
        run.outcome.unwrap()
    };
    let left: BTreeSet<_> = (0..20).map(left).collect();
    assert_eq!(left, BTreeSet::from(["before", "beforeduring"].map(String::from)));
}
