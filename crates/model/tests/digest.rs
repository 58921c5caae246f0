//! How parts of a digest are written as JSON.

use taskscale_model::digest::*;

#[test]
fn a_split_says_in_json_whether_the_queue_is_shared_too() {
    for (share_queue, json) in [
        (false, r#"{"do":"split_tasks","by":2}"#),
        (true, r#"{"do":"split_tasks","by":2,"share_queue":true}"#),
    ] {
        let change = Change::SplitTasks { by: 2, name: None, share_queue };
        assert_eq!(serde_json::to_string(&change).expect("JSON"), json);
        assert_eq!(serde_json::from_str::<Change>(json).expect("a change"), change);
    }
}

#[test]
fn names_in_text_are_those_in_json() {
    for name in [
        PatternName::SchedulingOverhead,
        PatternName::SerialBottleneck,
        PatternName::LoadImbalance,
        PatternName::StragglerTasks,
        PatternName::RecursiveOverlap,
        PatternName::UnderDecomposition,
        PatternName::Healthy,
        PatternName::EventLoopBlocked,
        PatternName::Preempted,
        PatternName::OutsideRun,
        PatternName::TooLittleReady,
        PatternName::BlockedInTasks,
        PatternName::Mixed,
        PatternName::Inconclusive,
    ] {
        let json = serde_json::to_string(&name).expect("a word");
        assert_eq!(json, format!("{:?}", name.as_str()));
    }
}
