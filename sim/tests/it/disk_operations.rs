//! Operations of disks, compared with those of the system that the tests run on.
#![cfg(target_os = "linux")]

use std::io;
use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use windtunnel_sim::{Disk, World};

/// Something that is done to a tree of files. Paths have no slash in front.
#[derive(Clone, Debug)]
enum Operation {
    Open { path: &'static str, options: [bool; 6], bytes: Vec<u8>, seek: i64 },
    Read(&'static str),
    CreateDir(&'static str),
    CreateDirAll(&'static str),
    RemoveFile(&'static str),
    RemoveDir(&'static str),
    Rename(&'static str, &'static str),
    SetLen(&'static str, u64),
    List(&'static str),
}

const PATHS: [&str; 11] = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "a/b", "no/b", "d/../a", "."];

fn drawn(draw: &mut impl FnMut(u64) -> u64) -> Operation {
    let path = |draw: &mut dyn FnMut(u64) -> u64| PATHS[draw(PATHS.len() as u64) as usize];
    match draw(12) {
        0..=3 => Operation::Open {
            path: path(draw),
            options: std::array::from_fn(|_| draw(2) == 0),
            bytes: vec![draw(256) as u8; draw(6) as usize],
            seek: draw(8) as i64 - 3,
        },
        4 => Operation::Read(path(draw)),
        5 => Operation::CreateDir(path(draw)),
        6 => Operation::CreateDirAll(path(draw)),
        7 => Operation::RemoveFile(path(draw)),
        8 => Operation::RemoveDir(path(draw)),
        9 => Operation::Rename(path(draw), path(draw)),
        10 => Operation::SetLen(path(draw), draw(9)),
        _ => Operation::List(path(draw)),
    }
}

/// The root has its own troubles there: it is busy, or has another name.
fn is_comparable(operation: &Operation) -> bool {
    !matches!(operation, Operation::RemoveFile(".") | Operation::RemoveDir(".") | Operation::Rename(".", _))
        && !matches!(operation, Operation::Rename(_, "."))
}

async fn simulated(disk: &Disk, operation: &Operation) -> io::Result<Vec<u8>> {
    match operation {
        Operation::Open { path, options: [read, write, append, truncate, create, create_new], bytes, seek } => {
            let mut options = disk.options();
            options.read(*read).write(*write).append(*append);
            options.truncate(*truncate).create(*create).create_new(*create_new);
            let mut file = options.open(path).await?;
            let mut found = Vec::new();
            file.seek(io::SeekFrom::End(*seek)).await?;
            if *write || *append {
                file.write_all(bytes).await?;
            }
            if *read {
                file.seek(io::SeekFrom::Start(1)).await?;
                file.read_to_end(&mut found).await?;
            }
            Ok(found)
        }
        Operation::Read(path) => disk.read(path).await,
        Operation::CreateDir(path) => disk.create_dir(path).await.map(|()| Vec::new()),
        Operation::CreateDirAll(path) => disk.create_dir_all(path).await.map(|()| Vec::new()),
        Operation::RemoveFile(path) => disk.remove_file(path).await.map(|()| Vec::new()),
        Operation::RemoveDir(path) => disk.remove_dir(path).await.map(|()| Vec::new()),
        Operation::Rename(from, to) => disk.rename(from, to).await.map(|()| Vec::new()),
        Operation::SetLen(path, length) => {
            disk.options().write(true).open(path).await?.set_len(*length).await?;
            Ok(disk.metadata(path).await?.size_bytes.to_le_bytes().to_vec())
        }
        Operation::List(path) => {
            let found = disk.read_dir(path).await?;
            let names = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap());
            Ok(names.collect::<Vec<_>>().join("/").into())
        }
    }
}

fn real(root: &Path, operation: &Operation) -> io::Result<Vec<u8>> {
    use std::fs;
    use std::io::{Read, Seek, Write};
    let at = |path: &&str| root.join(path);
    match operation {
        Operation::Open { path, options: [read, write, append, truncate, create, create_new], bytes, seek } => {
            let mut options = fs::OpenOptions::new();
            options.read(*read).write(*write).append(*append);
            options.truncate(*truncate).create(*create).create_new(*create_new);
            let mut file = options.open(at(path))?;
            let mut found = Vec::new();
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            file.seek(io::SeekFrom::End(*seek))?;
            if *write || *append {
                file.write_all(bytes)?;
            }
            if *read {
                file.seek(io::SeekFrom::Start(1))?;
                file.read_to_end(&mut found)?;
            }
            Ok(found)
        }
        Operation::Read(path) => fs::read(at(path)),
        Operation::CreateDir(path) => fs::create_dir(at(path)).map(|()| Vec::new()),
        Operation::CreateDirAll(path) => fs::create_dir_all(at(path)).map(|()| Vec::new()),
        Operation::RemoveFile(path) => fs::remove_file(at(path)).map(|()| Vec::new()),
        Operation::RemoveDir(path) => fs::remove_dir(at(path)).map(|()| Vec::new()),
        Operation::Rename(from, to) => fs::rename(at(from), at(to)).map(|()| Vec::new()),
        Operation::SetLen(path, length) => {
            fs::OpenOptions::new().write(true).open(at(path))?.set_len(*length)?;
            Ok(fs::metadata(at(path))?.len().to_le_bytes().to_vec())
        }
        Operation::List(path) => {
            let mut names = Vec::new();
            for entry in fs::read_dir(at(path))? {
                names.push(entry?.file_name().into_string().unwrap());
            }
            names.sort();
            Ok(names.join("/").into())
        }
    }
}

#[test]
fn a_disk_answers_as_the_operating_system_does() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let folder = tempfile::tempdir().unwrap();
        let run = World::new(seed).run(|world| async move {
            let (env, disk) = (world.env(), world.host("a").unwrap().process().disk());
            let mut draw = |below| env.random_u64("operations") % below;
            let mut done = Vec::new();
            for _ in 0..200 {
                let operation = drawn(&mut draw);
                if is_comparable(&operation) {
                    let answer = simulated(&disk, &operation).await.map_err(|error| error.kind());
                    done.push((operation, answer));
                }
            }
            done
        });
        for (step, (operation, answer)) in run.outcome.unwrap().into_iter().enumerate() {
            let expected = real(folder.path(), &operation).map_err(|error| error.kind());
            assert_eq!(answer, expected, "seed {seed}, step {step}: {operation:?}");
            kinds.insert(format!("{:?}", answer.err()));
        }
    }
    assert!(kinds.len() >= 7, "{kinds:?}");
}
