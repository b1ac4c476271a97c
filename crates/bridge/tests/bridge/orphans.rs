//! Nothing that we started outlives us.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anabranch_bridge::{Factory, ProcessFactory};

use super::machine::{MARK, alone, children, eventually, marked, resident_kb};
use super::rogue;

fn with_mark(mode: &str, mark: &str) -> ProcessFactory {
    let mut factory = rogue(mode);
    factory.spec.env.push((MARK.into(), mark.into()));
    factory
}

#[test]
fn a_dropped_instance_takes_its_helpers_along() {
    let _alone = alone();
    let instance = with_mark("helpers", "dropped").start().unwrap();
    // A process that is just becoming another program has no environment for a moment.
    eventually("the program and three sleepers in groups of their own", || marked("dropped").len() == 4);
    drop(instance);
    assert!(marked("dropped").is_empty());
    assert_eq!(children(), 0, "the sentinel is gone too");
}

#[test]
fn a_killed_host_takes_all_along() {
    let _alone = alone();
    for (mode, processes) in [("driver", 2), ("helpers", 5)] {
        let mark = format!("killed-{mode}");
        let mut host = Command::new(env!("CARGO_BIN_EXE_anabranch-rogue"))
            .args(["host", mode])
            .env(MARK, &mark)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // The sentinel is a fork of the host and carries its mark.
        eventually("all of them run", || marked(&mark).len() == processes + 1);
        host.kill().unwrap();
        host.wait().unwrap();
        eventually("everything below a killed host is gone", || marked(&mark).is_empty());
    }
}

#[test]
fn a_panic_takes_all_along() {
    let _alone = alone();
    let thread = std::thread::spawn(|| {
        let _instance = with_mark("helpers", "panic").start().unwrap();
        panic!("a bug of ours");
    });
    assert!(thread.join().is_err());
    assert!(marked("panic").is_empty());
}

#[test]
fn no_socket_is_left_in_the_folder_for_temporary_files() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut host = Command::new(env!("CARGO_BIN_EXE_anabranch-rogue"))
        .args(["host", "never-connects"])
        .env("TMPDIR", folder.path())
        .env(MARK, "socket")
        .spawn()
        .unwrap();
    eventually("the child runs", || marked("socket").len() == 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("the sentinel cleans up", || std::fs::read_dir(folder.path()).unwrap().count() == 0);
    eventually("everything is gone", || marked("socket").is_empty());
}

#[test]
fn a_sentinel_does_not_hold_the_memory_of_a_large_host() {
    let _alone = alone();
    let hoard = std::hint::black_box(vec![1_u8; 256 << 20]);
    let before: Vec<String> = sentinels();
    let _instance = rogue("driver").start().unwrap();
    let new: Vec<String> = sentinels().into_iter().filter(|pid| !before.contains(pid)).collect();
    assert_eq!(new.len(), 1);
    assert!(resident_kb("self") > 256 << 10);
    assert!(resident_kb(&new[0]) < 64 << 10, "{} kB", resident_kb(&new[0]));
    drop(hoard);
}

fn sentinels() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
