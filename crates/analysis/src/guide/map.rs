//! How loops of several profiles compare by policy.

use taskscale_model::guide::{HeatMap, Measured, Policy};

/// The profiles of the loops, by which an arm `ramp/dynamic/64` is told from any other.
const PROFILES: [&str; 5] = ["uniform", "ramp", "bimodal", "primes", "mandelbrot"];

/// The map of arms that are named by profile and policy; `None` where there are none. O(arms) for
/// each profile.
pub(super) fn of(arms: &[Measured]) -> Option<HeatMap> {
    let loops: Vec<(&str, &str, Option<f64>)> = arms
        .iter()
        .filter_map(|arm| {
            let (profile, policy) = arm.name.split_once('/')?;
            PROFILES.contains(&profile).then_some((profile, policy, arm.wall_ns))
        })
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for (_, policy, _) in &loops {
        if !names.contains(policy) {
            names.push(policy);
        }
    }
    let profiles: Vec<&str> =
        PROFILES.into_iter().filter(|profile| loops.iter().any(|(of, ..)| of == profile)).collect();
    let at = |profile: &str, policy: &str| {
        loops.iter().find(|(of, by, _)| *of == profile && *by == policy).and_then(|(.., wall_ns)| *wall_ns)
    };
    let to_best = |profile: &str, policy: &str| {
        let best = names.iter().filter_map(|policy| at(profile, policy)).min_by(f64::total_cmp)?;
        at(profile, policy).filter(|_| best > 0.0).map(|wall_ns| wall_ns / best)
    };
    let policies = names
        .iter()
        .map(|policy| Policy {
            name: (*policy).to_owned(),
            to_best: profiles.iter().map(|profile| to_best(profile, policy)).collect(),
        })
        .collect();
    (!loops.is_empty())
        .then(|| HeatMap { profiles: profiles.into_iter().map(str::to_owned).collect(), policies })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(name: &str, wall_ns: Option<f64>) -> Measured {
        Measured { name: name.into(), tasks: 1, rounds: 1, cpu_ns: None, wall_ns, why: None, flags: None }
    }

    #[test]
    fn each_profile_has_a_best_policy() {
        let arms = [
            arm("uniform/static", Some(10.0)),
            arm("uniform/dynamic/64", Some(15.0)),
            arm("ramp/static", Some(40.0)),
            arm("ramp/dynamic/64", Some(20.0)),
            arm("ramp/random", None),
            arm("loop/64", Some(1.0)),
        ];
        let map = of(&arms).expect("loops");
        assert_eq!(map.profiles, ["uniform", "ramp"]);
        let rows: Vec<(&str, &[Option<f64>])> =
            map.policies.iter().map(|row| (row.name.as_str(), row.to_best.as_slice())).collect();
        assert_eq!(
            rows,
            [
                ("static", &[Some(1.0), Some(2.0)][..]),
                ("dynamic/64", &[Some(1.5), Some(1.0)]),
                ("random", &[None, None]),
            ]
        );
        assert_eq!(of(&arms[5..]), None);
    }
}
