//! Kinds of error: modes that a person would give one name, whatever their size.
//!
//! The names of modes are the words of [`Mode::name`](anabranch_kernel::Mode): `left 0.1 m`, `box 0.5 s late`. Three
//! conventions are read from them, and each can only put sequences into one cause that were run and end alike:
//!
//! * Modes of one site whose names differ only in their numbers, and whose sizes differ, are one kind.
//! * `front-left` and `rear-left` are the kind `left` where the site has `left` too; so for `right`.
//! * Two modes of equal size whose names differ by `left` and `right` are mirror images.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_kernel::{Choice, ErrorSpace, Site};

/// Units that follow a number in the name of a mode.
const UNITS: [&str; 8] = ["m", "s", "°", "bar", "m/s", "m/s²", "rad", "%"];

/// The number of a kind of error in [`Kinds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(pub u16);

/// All kinds of error of a system.
#[derive(Clone, Debug)]
pub struct Kinds {
    /// `estimate-jump: left`.
    names: Vec<String>,
    /// For every site the kind of each mode; mode 0 has none.
    of_mode: Vec<Vec<Option<Kind>>>,
    /// For every choice its kinds.
    of_choice: Vec<BTreeSet<Kind>>,
    /// For every choice its mirror image, where each of its errors has one.
    mirrored: Vec<Option<Choice>>,
    /// Choices by their modes.
    choices: BTreeMap<Vec<u8>, Choice>,
}

impl Kinds {
    /// Reads them from the names and sizes of the modes.
    pub fn of(space: &ErrorSpace) -> Self {
        let (mut names, mut of_mode) = (Vec::new(), Vec::new());
        for site in space.sites() {
            let words = words_of(site);
            let mut known: BTreeMap<&str, Kind> = BTreeMap::new();
            let mut modes = vec![None];
            for (word, mode) in words.iter().zip(&site.modes).skip(1) {
                let kind = *known.entry(word).or_insert_with(|| {
                    let shown = if word.chars().any(char::is_alphabetic) { word } else { &mode.name };
                    names.push(format!("{}: {shown}", site.id));
                    Kind(names.len() as u16 - 1)
                });
                modes.push(Some(kind));
            }
            of_mode.push(modes);
        }
        let choices: BTreeMap<Vec<u8>, Choice> =
            space.choices().map(|choice| (space.modes(choice).to_vec(), choice)).collect();
        let kinds = |choice: Choice| {
            let modes = space.modes(choice).iter().zip(&of_mode);
            modes.filter_map(|(&mode, kinds)| kinds[usize::from(mode)]).collect()
        };
        let of_choice = space.choices().map(kinds).collect();
        let images: Vec<Vec<Option<u8>>> = space.sites().iter().map(images).collect();
        let mirrored = |choice: Choice| {
            let modes = space.modes(choice).iter().zip(&images);
            let image: Option<Vec<u8>> = modes.map(|(&mode, images)| images[usize::from(mode)]).collect();
            image.and_then(|image| choices.get(&image).copied())
        };
        let mirrored = space.choices().map(mirrored).collect();
        Self { names, of_mode, of_choice, mirrored, choices }
    }

    /// What a person calls a kind: `estimate-jump: left`.
    pub fn name(&self, kind: Kind) -> &str {
        &self.names[usize::from(kind.0)]
    }

    /// The kinds that occur in a sequence.
    pub fn in_sequence(&self, choices: &[Choice]) -> BTreeSet<Kind> {
        choices.iter().flat_map(|choice| &self.of_choice[choice.index()]).copied().collect()
    }

    /// The sequence without the errors of all other kinds.
    pub fn restrict(&self, space: &ErrorSpace, choices: &[Choice], kinds: &BTreeSet<Kind>) -> Vec<Choice> {
        let kept = |choice: &Choice| {
            if self.of_choice[choice.index()].is_subset(kinds) {
                return *choice;
            }
            let keep = |(&mode, of): (&u8, &Vec<Option<Kind>>)| match of[usize::from(mode)] {
                Some(kind) if kinds.contains(&kind) => mode,
                _ => 0,
            };
            let modes: Vec<u8> = space.modes(*choice).iter().zip(&self.of_mode).map(keep).collect();
            // With fewer errors at once every limit of the space still holds.
            self.choices.get(&modes).copied().unwrap_or(Choice::NONE)
        };
        choices.iter().map(kept).collect()
    }

    /// The sequence with left and right exchanged, where every error has a mirror image.
    pub fn mirrored(&self, choices: &[Choice]) -> Option<Vec<Choice>> {
        choices.iter().map(|choice| self.mirrored[choice.index()]).collect()
    }
}

/// Whether every error of `part` is one of `whole`, in the same segment.
pub fn contains(space: &ErrorSpace, whole: &[Choice], part: &[Choice]) -> bool {
    let is_in = |(at, &choice): (usize, &Choice)| {
        let Some(&there) = whole.get(at) else { return choice == Choice::NONE };
        let modes = space.modes(choice).iter().zip(space.modes(there));
        choice == there || modes.into_iter().all(|(&part, &whole)| part == 0 || part == whole)
    };
    part.iter().enumerate().all(is_in)
}

/// For each mode of a site the words that name its kind.
fn words_of(site: &Site) -> Vec<String> {
    let mut words: Vec<String> = site.modes.iter().map(|mode| without_numbers(&mode.name)).collect();
    // Where two of a name have the same size, their numbers are not sizes but tell things apart.
    let sizes = |word: &str, words: &[String]| -> Vec<u64> {
        let alike = site.modes.iter().zip(words).filter(|(_, other)| *other == word);
        alike.map(|(mode, _)| mode.size.to_bits()).collect()
    };
    let is_size = |word: &str, words: &[String]| {
        let sizes = sizes(word, words);
        sizes.iter().collect::<BTreeSet<_>>().len() == sizes.len()
    };
    let folded: Vec<bool> = words.iter().map(|word| is_size(word, &words)).collect();
    for ((word, mode), is_folded) in words.iter_mut().zip(&site.modes).zip(folded) {
        if !is_folded {
            word.clone_from(&mode.name);
        }
    }
    let sides: BTreeSet<String> = words.iter().cloned().collect();
    let to_side = |word: String| {
        let side: Vec<&str> = word.split(' ').map(side_of).collect();
        let side = side.join(" ");
        if sides.contains(&side) { side } else { word }
    };
    words.into_iter().map(to_side).collect()
}

/// `left` of `left 0.1 m`, `box late` of `box 0.5 s late`; a sign is kept.
fn without_numbers(name: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut is_after_number = false;
    for word in name.split(' ') {
        let number = word.trim_start_matches(['+', '-', '−', '×']);
        let is_number = number.starts_with(|c: char| c.is_ascii_digit());
        if is_number {
            words.extend(Some(&word[..word.len() - number.len()]).filter(|sign| !sign.is_empty()));
        } else if !(is_after_number && UNITS.contains(&word)) {
            words.push(word);
        }
        is_after_number = is_number;
    }
    words.join(" ")
}

/// `left` of `front-left`; anything else as it is.
fn side_of(word: &str) -> &str {
    match word.split_once('-') {
        Some(("front" | "rear", side @ ("left" | "right"))) => side,
        _ => word,
    }
}

/// For each mode of a site its mirror image: a mode of the same size with `left` and `right` exchanged in its name.
fn images(site: &Site) -> Vec<Option<u8>> {
    let image = |mode: &anabranch_kernel::Mode| {
        let name = exchanged(&mode.name);
        site.modes.iter().position(|other| other.name == name && other.size == mode.size).map(|at| at as u8)
    };
    site.modes.iter().map(image).collect()
}

fn exchanged(name: &str) -> String {
    let word = |word: &str| match word {
        "left" => "right".to_owned(),
        "right" => "left".to_owned(),
        other => other.to_owned(),
    };
    let words = |words: &str| words.split('-').map(word).collect::<Vec<_>>().join("-");
    name.split(' ').map(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::Mode;

    fn site(modes: &[(&str, f64)]) -> Site {
        let none = Mode { name: "none".to_owned(), size: 0.0 };
        let modes = modes.iter().map(|&(name, size)| Mode { name: name.to_owned(), size });
        Site { id: "e".to_owned(), modes: std::iter::once(none).chain(modes).collect() }
    }

    fn check(modes: &[(&str, f64)], expect: &[&str]) {
        let space = ErrorSpace::new(vec![site(modes)], 1).unwrap();
        let kinds = Kinds::of(&space);
        let found: Vec<String> = space
            .choices()
            .skip(1)
            .map(|choice| kinds.in_sequence(&[choice]).iter().map(|kind| kinds.name(*kind).to_owned()).collect())
            .collect();
        let expect: Vec<String> = expect.iter().map(|word| format!("e: {word}")).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn sizes_are_folded_and_things_are_not() {
        check(&[("left 0.1 m", 0.1), ("left 0.2 m", 0.2), ("right 0.1 m", 0.1)], &["left", "left", "right"]);
        check(&[("box 0.5 s late", 0.5), ("box 1 s late", 1.0)], &["box late", "box late"]);
        check(&[("car 1 missed", 1.0), ("car 2 missed", 1.0)], &["car 1 missed", "car 2 missed"]);
        check(&[("gain 0.5", 0.5), ("gain 1.5", 0.5)], &["gain 0.5", "gain 1.5"]);
        check(&[("+0.5 m/s²", 0.5), ("+1 m/s²", 1.0), ("−0.5 m/s²", 0.5)], &["+0.5 m/s²", "+0.5 m/s²", "−0.5 m/s²"]);
        check(&[("120°", 1.0), ("240°", 1.0)], &["120°", "240°"]);
    }

    #[test]
    fn a_corner_is_its_side_where_there_are_sides_and_a_tyre_stays_a_tyre() {
        check(&[("left 0.1 m", 0.1), ("front-left 0.1 m", 0.1), ("front 0.1 m", 0.1)], &["left", "left", "front"]);
        check(&[("front-left loses", 1.0), ("rear-left loses", 1.0)], &["front-left loses", "rear-left loses"]);
        check(&[("left 0.1 m", 0.1), ("heading left 2°", 0.03)], &["left", "heading left"]);
    }

    #[test]
    fn mirror_images_exchange_left_and_right_and_need_a_counterpart() {
        let modes = [("front-left 0.1 m", 0.1), ("front-right 0.1 m", 0.1), ("rear 0.1 m", 0.1), ("left 0.3 m", 0.3)];
        let space = ErrorSpace::new(vec![site(&modes)], 1).unwrap();
        let kinds = Kinds::of(&space);
        assert_eq!(kinds.mirrored(&[0, 1, 3].map(Choice)), Some([0, 2, 3].map(Choice).into()));
        assert_eq!(kinds.mirrored(&[4].map(Choice)), None);
    }

    #[test]
    fn restricting_leaves_out_other_kinds_and_keeps_what_is_beside_them() {
        let sites = vec![site(&[("left", 1.0), ("right", 1.0)]), Site { id: "f".to_owned(), ..site(&[("late", 1.0)]) }];
        let space = ErrorSpace::new(sites, 2).unwrap();
        let kinds = Kinds::of(&space);
        let (both, late) = (space.find(&[1, 1]).unwrap(), space.find(&[0, 1]).unwrap());
        let only = kinds.in_sequence(&[late]);
        assert_eq!(kinds.restrict(&space, &[both, Choice(1), late], &only), [late, Choice::NONE, late]);
        assert!(contains(&space, &[both, late], &[late]) && !contains(&space, &[late], &[both]));
        assert!(contains(&space, &[both], &[late, Choice::NONE]) && !contains(&space, &[both], &[Choice::NONE, late]));
    }
}
