//! Which end-to-end tests do not hold for the component on its own, and why:
//! they are about the native host, or about what only that can do.
//! docs/portability.md tells of every reason.

/// A reason, and the tests it is for: a name, or a module with `::` behind it.
pub(crate) const SKIPPED: &[(&str, &[&str])] = &[
    (
        "tests of the component itself, run once by themselves",
        &["portable::"],
    ),
    (
        "commands and flags that the native program alone has",
        &[
            "audit::",
            "audit_kept::",
            "check::",
            "cli::",
            "demo::",
            "shared_key::",
            "cursors::a_key_file_lets_cursors_cross_processes_and_restarts",
            "workspace_start::check_says_what_is_blocked_and_how_to_serve_it",
            "workspace_start::the_command_includes_everything_whatever_tools_it_serves",
            "workspace_start::the_working_directory_is_served_unless_another_is_named",
            "workspace_start::what_nobody_can_have_meant_to_serve_must_be_named",
        ],
    ),
    (
        "a refused command line ends with status 64",
        &[
            "policy::a_backslash",
            "policy::a_brace_that_could_leave_the_root",
            "policy::a_closing_brace",
            "policy::a_dot_segment_inside",
            "policy::a_doubled_slash",
            "policy::a_leading_dot_segment",
            "policy::a_parent",
            "policy::a_parent_and_stars",
            "policy::a_parent_inside",
            "policy::an_absolute_name",
            "policy::an_absolute_pattern",
            "policy::an_empty_pattern",
            "policy::an_open_brace",
            "policy::an_open_class",
            "policy::stars_and_an_open_class",
            "policy::stars_inside_a_name",
            "policy::ten_thousand_stars",
            "policy::three_stars",
        ],
    ),
    (
        "calls that run side by side, and a running one that is cancelled or ended with the input",
        &[
            "backlog::",
            "batches::a_cancelled_call_is_left_out_and_the_others_are_not_kept_waiting",
            "batches::progress_of_a_call_in_a_batch_is_a_line_of_its_own",
            "batches::the_end_of_input_gives_the_answers_that_there_are",
            "cancelling::",
            "ids::a_number_and_its_text_are_two_ids_in_flight",
            "ids::a_version_not_spoken_comes_before_an_id_in_flight",
            "ids::an_id_in_flight_is_refused_also_where_the_answer_needs_no_call",
            "ids::an_id_in_flight_is_refused_without_an_id",
            "legacy::a_cancelled_call_is_never_answered_and_progress_has_its_token",
            "lifecycle::the_end_of_input_during_a_long_call_exits_0_without_its_answer",
            "modern::a_cancelled_call_is_stopped_and_never_answered",
            "ordering::a_cancelled_write_that_waits_is_never_done",
            "ordering::a_write_behind_a_cancelled_call_goes_on",
            "ordering::read_only_calls_run_side_by_side",
            "regressions::protocol::ten_calls_at_once_with_two_cancelled",
            "scheduling::a_call_that_waits_to_begin_anew_can_be_cancelled",
            "scheduling::a_long_call_on_every_worker_keeps_no_short_one_waiting",
            "scheduling::a_write_of_much_keeps_neither_a_cancellation_nor_a_short_answer_waiting",
            "scheduling::a_write_waits_for_every_call_before_it_also_for_those_that_begin_anew",
            "scheduling::more_long_calls_than_workers_keep_no_short_one_waiting_and_all_get_their_turn",
            "soak::every_answer_is_that_of_the_model_while_somebody_changes_the_tree",
            "workspace_search::a_search_can_be_cancelled",
        ],
    ),
    (
        "a call past its memory that ends alone",
        &[
            "limits::max_call_memory_ends_the_call_and_not_the_server",
            "workspace_read::a_file_is_in_the_memory_of_its_call_once",
        ],
    ),
    (
        "signals, and limits that the system sets the process",
        &[
            "faults::",
            "lifecycle::sighup_when_busy_exits_0",
            "lifecycle::sighup_when_idle_exits_0",
            "lifecycle::sigint_when_busy_exits_0",
            "lifecycle::sigint_when_idle_exits_0",
            "lifecycle::sigterm_when_busy_exits_0",
            "lifecycle::sigterm_when_idle_exits_0",
            "lifecycle::a_closed_stderr_does_not_matter",
            "lifecycle::too_few_descriptors_show_at_the_start_or_not_at_all",
            "shortage::",
            "write_interrupted::a_process_that_is_killed_leaves_the_whole_file_or_none",
            "write_interrupted::a_process_that_is_told_to_end_leaves_the_whole_file_or_nothing",
            "write_interrupted::a_write_past_the_limit_of_a_files_size_is_refused_and_changes_nothing",
        ],
    ),
    (
        "what the process gives up, and its system calls one by one",
        &["lockdown_session::", "slow_disk::"],
    ),
    (
        "locks between servers of one root, and what a killed one leaves",
        &[
            "temporaries::stale_temporaries_are_removed_at_start_unless_a_writer_holds_them",
            "temporaries::what_a_killed_process_left_is_hidden_from_readers_and_swept_by_the_next_writer",
            "turns::",
            "workspace_large::a_killed_write_into_a_directory_leaves_the_old_content_and_its_temporary_is_swept",
            "workspace_large::a_killed_write_makes_no_directories",
        ],
    ),
    (
        "modes, owners and groups of files",
        &[
            "workspace_start::a_new_file_has_the_group_of_a_directory_that_hands_it_on",
            "write_attributes::a_file_of_somebody_else_is_replaced_where_it_may_be_written",
            "write_attributes::a_new_file_is_private_whatever_the_umask",
            "write_attributes::a_replaced_file_keeps_its_mode_whatever_the_umask",
            "write_attributes::a_replaced_file_keeps_its_owner_and_group",
            "write_attributes::what_a_program_ran_as_is_not_handed_on_to_other_content",
        ],
    ),
];

/// Those of `names` that are skipped.
///
/// # Panics
/// When something that is skipped is not among them.
pub(crate) fn among<'a>(names: &'a [String]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for skipped in SKIPPED.iter().flat_map(|(_, tests)| *tests) {
        let before = found.len();
        found.extend(names.iter().map(String::as_str).filter(
            |name| match skipped.ends_with("::") {
                true => name.starts_with(skipped),
                false => name == skipped,
            },
        ));
        assert!(found.len() > before, "there is no test {skipped} to skip");
    }
    found
}
