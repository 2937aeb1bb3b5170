//! Hashes of pieces, whoever takes them.

use super::{Hash, MAX_WAITING, Written};

fn hash(key: Option<&[u8]>, content: &[u8]) -> String {
    let mut hash = Hash::new(key);
    hash.update(content);
    hash.finish()
}

#[test]
fn hashes_are_the_published_ones() {
    // FIPS 180-4 "abc"; RFC 4231, test case 2.
    assert_eq!(
        hash(None, b"abc"),
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(
        hash(Some(b"Jefe"), b"what do ya want for nothing?"),
        "hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
}

#[test]
fn pieces_are_hashed_in_their_order_whoever_does_it() {
    for key in [None, Some(&b"Jefe"[..])] {
        for (size, pieces) in [
            (1, 5),
            (1000, 50),
            (MAX_WAITING / 3, 10),
            (MAX_WAITING + 1, 3),
        ] {
            for begins in 0..4 {
                let mut written = Written::new(key);
                let mut whole = Vec::new();
                for piece in 0..pieces {
                    let bytes = vec![piece; size];
                    whole.extend_from_slice(&bytes);
                    written.add(bytes);
                    if begins > 0 && piece % begins == 0 {
                        written.begin();
                    }
                }
                let expected = hash(key, &whole);
                assert_eq!(written.finish().map(Hash::finish), Some(expected));
            }
        }
        assert_eq!(
            Written::new(key).finish().map(Hash::finish),
            Some(hash(key, b""))
        );
    }
}

#[test]
fn more_at_once_than_the_thread_takes_are_hashed_all_the_same() {
    let many: Vec<Written> = (0..50)
        .map(|byte| {
            let mut written = Written::new(None);
            written.add(vec![byte; 100_000]);
            written.begin();
            written
        })
        .collect();
    for (byte, written) in (0..50).zip(many) {
        let expected = hash(None, &vec![byte; 100_000]);
        assert_eq!(written.finish().map(Hash::finish), Some(expected));
    }
}

#[test]
fn what_was_written_before_something_else_does_not_count() {
    for key in [None, Some(&b"Jefe"[..])] {
        for begins in [false, true] {
            let mut written = Written::new(key);
            written.add(b"other".to_vec());
            if begins {
                written.begin();
            }
            written.restart();
            written.add(b"content".to_vec());
            let expected = hash(key, b"content");
            assert_eq!(written.finish().map(Hash::finish), Some(expected));
        }
    }
}

#[test]
fn what_waits_is_bounded() {
    let mut written = Written::new(None);
    for _ in 0..100 {
        written.add(vec![0; MAX_WAITING / 10]);
        assert!(written.bytes < MAX_WAITING);
    }
}
