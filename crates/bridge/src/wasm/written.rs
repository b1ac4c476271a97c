//! Which pages of a memory were written since somebody last asked.
//!
//! A module that is rewritten when it is loaded keeps a second memory with one byte for each page of the first, and sets it
//! before every store (`rewrite.rs`). A store that begins in one page may end in the next, so a page counts as
//! written too when the one before it does; what counts is compared before it is believed.

use super::image::PAGE_BYTES;

/// Lists the pages of a memory of so many bytes that may have been written, in order.
pub(super) fn list(marks: &[u8], memory_bytes: usize, pages: &mut Vec<u32>) {
    pages.clear();
    let count = memory_bytes / PAGE_BYTES;
    let (words, _) = marks[..count.next_multiple_of(8).min(marks.len())].as_chunks::<8>();
    let mut next = 0;
    for (word, eight) in words.iter().enumerate() {
        if u64::from_ne_bytes(*eight) == 0 {
            continue;
        }
        for place in (0..8).filter(|&place| eight[place] != 0) {
            let page = 8 * word + place;
            pages.extend((page.max(next)..(page + 2).min(count)).map(|page| page as u32));
            next = page + 2;
        }
    }
}

/// Forgets that these were written.
pub(super) fn forget(marks: &mut [u8], pages: &[u32]) {
    for &page in pages {
        marks[page as usize] = 0;
    }
}

/// Notes that the host itself has written here.
pub(super) fn note(marks: &mut [u8], from: usize, bytes: usize) {
    if bytes > 0 {
        marks[from / PAGE_BYTES..=(from + bytes - 1) / PAGE_BYTES].fill(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(marked: &[usize], expected: &[u32]) {
        let mut marks = vec![0; 64];
        for &page in marked {
            marks[page] = 1;
        }
        let mut pages = vec![99];
        list(&marks, 16 * PAGE_BYTES, &mut pages);
        assert_eq!(pages, expected);
        forget(&mut marks, &pages);
        list(&marks, 16 * PAGE_BYTES, &mut pages);
        assert_eq!(pages, [0; 0]);
    }

    #[test]
    fn a_page_and_the_one_after_it_count_as_written() {
        check(&[], &[]);
        check(&[3], &[3, 4]);
        check(&[3, 4, 9], &[3, 4, 5, 9, 10]);
        check(&[7, 8], &[7, 8, 9]);
        check(&[15], &[15]);
        check(&[0, 2, 14], &[0, 1, 2, 3, 14, 15]);
    }

    #[test]
    fn what_the_host_writes_is_noted() {
        let mut marks = vec![0; 8];
        note(&mut marks, PAGE_BYTES - 1, 2);
        note(&mut marks, 5 * PAGE_BYTES, PAGE_BYTES);
        note(&mut marks, 7 * PAGE_BYTES, 0);
        assert_eq!(marks, [1, 1, 0, 0, 0, 1, 0, 0]);
    }
}
