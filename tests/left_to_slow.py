"""Tests that the gate leaves to `make test-slow`, beside those with the marker `slow`, and tests that stay for them.

Each takes two seconds or more of a processor. A prefix of a test's name stands for all tests that begin with it.
"""

from __future__ import annotations

CAMPAIGNS = (
    # Proofs about campaigns and benchmarks themselves. What they count and kill is tested part by part beside them.
    "benchmarks/campaigns/test_crashes.py::",
    "benchmarks/campaigns/test_damages.py::test_no_damage_is_silent[simulation]",
    "benchmarks/campaigns/test_power.py::test_the_campaign_finds_files_that_are_not_forced",
    "benchmarks/campaigns/test_races.py::test_of_many_runs_that_start_together_one_goes_on",
    "benchmarks/campaigns/test_races.py::test_runs_without_a_lock_do_not_pass",
    "benchmarks/runs/test_identification.py::test_the_dataset_is_complete_and_identifies_its_robot",
    "benchmarks/runs/test_identification.py::test_parameters_that_are_off_are_an_error",
    "benchmarks/test_robots.py::test_a_robot_of_the_core_has_its_figures[hexapod_ball_screws]",
    "benchmarks/test_robots.py::test_a_robot_of_the_core_has_its_figures[delta_rl5_1450]",
    *(
        f"benchmarks/test_cases.py::test_a_case_gives_its_figures[{name}]"
        for name in (
            "blocks", "busy", "coordinator", "dataset", "energy", "friction", "large", "memory", "precision", "robots",
            "run", "series", "shapes", "small", "thousand", "thousand_limbs",
        )
    ),
)  # fmt: skip

PAGES = (
    # The whole site is built by `make docs`; links, names and the code of the other pages are tested one by one.
    "test_site.py::test_the_site_is_whole",
    "test_pages.py::test_a_page_runs[docs/guide/publishing.md]",
    "test_pages.py::test_a_page_runs[docs/report.md]",
    "test_pages.py::test_a_page_runs[docs/studies.md]",
    *(
        f"test_pages.py::test_a_page_runs[docs/guide/{name}.md]"
        for name in ("chains", "criteria", "elastic", "simulations")
    ),
    *(
        f"test_howto.py::test_following_the_page_leads_there[{name}]"
        for name in ("cluster", "feature", "friction_law", "inverse_dynamics", "output", "trajectory")
    ),
    "test_howto.py::test_the_plan_counts_what_a_new_metric_of_mass_takes",
    # The cells of the first one run without a kernel.
    "test_notebooks.py::test_a_notebook_runs[",
    "test_examples_in_docstrings.py::test_a_public_name_has_an_example_that_runs[excite]",
    "test_examples_in_docstrings.py::test_a_public_name_has_an_example_that_runs[report]",
    "test_examples_in_docstrings.py::test_a_public_name_has_an_example_that_runs[study.workspace]",
    *(f"test_pages.py::test_a_page_runs[docs/guide/{name}.md]" for name in ("cookbook", "gradients", "sweeps")),
    "test_pages.py::test_a_page_runs[docs/clusters.md]",
    "test_pages.py::test_a_page_runs[docs/index.md]",
    "test_howto.py::test_following_the_page_leads_there[joint_kind]",
    "test_howto.py::test_following_the_page_leads_there[robot]",
    "test_notebooks.py::test_a_kernel_shows_progress_and_waits_for_an_asynchronous_client",
    *(f"test_pages.py::test_a_page_runs[docs/guide/{name}.md]" for name in ("drives", "friction", "matlab")),
)

CLUSTERS = (
    # Workers that come and leave, and killed workers of limb tasks, stay in the gate.
    "pipeline/execution/test_elastic.py::test_an_adaptive_cluster_grows_with_what_a_run_has_left",
    "pipeline/execution/test_elastic.py::test_a_store_that_is_slower_than_the_computation_does_not_fill_the_cluster",
    "pipeline/execution/test_elastic.py::test_blocks_of_a_worker_that_stands_still_are_computed_by_another",
    "pipeline/execution/test_resume.py::test_killed_workers_cost_no_block[block]",
    "pipeline/execution/test_run.py::test_two_processes_give_the_same_bits[limb]",
    "pipeline/execution/test_foreign_python.py::test_packages_that_are_found_through_the_current_folder_alone[run]",
    "pipeline/cluster/test_clients.py::test_workers_without_the_package_are_told_in_a_line",
    "pipeline/execution/test_executor.py::test_a_batch_that_is_abandoned_is_computed_nowhere",
    "pipeline/execution/test_executor.py::test_a_task_whose_workers_have_all_gone_is_withdrawn",
    "pipeline/execution/test_executor.py::test_what_somebody_else_cancels_is_withdrawn_and_sent_again",
    "pipeline/execution/test_resume.py::test_on_a_cluster_failures_come_back_and_futures_are_let_go",
    "storage/places/test_lock.py::test_who_looks_at_a_store_keeps_nobody_from_it",
)

OTHER_ROWS = (
    # Another row of the same table stays in the gate.
    "applications/identification/estimation/calibration/test_calibrate.py::"
    "test_the_geometry_of_every_limb_is_found_within_its_deviations[gough_stewart",
    "applications/identification/estimation/machines/test_variants.py::"
    "test_every_judgement_runs_under_every_variant[known and unknown-stribeck]",
    "applications/identification/estimation/machines/test_coupled.py::"
    "test_friction_loaded_by_reactions_is_identified[0.3]",
    "applications/identification/estimation/test_base.py::test_as_many_as_energy_tells_apart[irb6]",
    "applications/identification/test_dataset.py::test_robots_are_identified[delta-False]",
    "applications/identification/test_dataset.py::test_robots_are_identified[tree-True]",
    "applications/identification/test_identify.py::test_a_gravity_test_gives_what_weight_tells[irb6]",
    *(
        "applications/identification/test_identify.py::"
        f"test_parameters_come_back_from_encoders_within_their_deviations[{name}]"
        for name in ("irb6", "three_loop_leg")
    ),
    "applications/studies/test_sensitivity.py::test_ishigami",
    "bad_inputs/test_hostile_tables.py::test_hostile_tables_end_in_a_sentence[calibrate]",
    "bad_inputs/test_hostile_tables.py::test_hostile_tables_end_in_a_sentence[identify]",
    *(
        f"benchmarks/test_composition.py::test_features_and_a_door_work_together_or_are_refused[{door}]"
        for door in ("append", "csv", "lazy", "mat", "optimise", "rank")
    ),
    "pipeline/execution/test_opening.py::test_values_are_those_of_the_store_and_structures_are_text[hexapod]",
    "pipeline/robot_files/test_reader.py::test_a_robot_of_the_catalogue_is_read_back_to_the_last_bit[h4]",
    "pipeline/robot_files/test_reader.py::test_a_robot_of_the_catalogue_is_read_back_to_the_last_bit[par4]",
    "pipeline/execution/test_run.py::test_a_cluster_made_for_the_run_gives_the_same_bits",
    "pipeline/execution/test_run.py::test_any_blocks_give_the_same_bits[pairs-block]",
    "pipeline/execution/test_run.py::test_any_blocks_give_the_same_bits[two pairs, two friction sets-limb]",
    "pipeline/execution/test_isolation.py::test_what_goes_wrong_for_one_design_is_told_of_its_cases_only[huge message]",
    "pipeline/execution/test_isolation.py::test_what_goes_wrong_for_one_design_is_told_of_its_cases_only[wrong type]",
    "pipeline/execution/test_loop.py::test_the_first_answer_counts_and_the_other_costs_nothing[help fails]",
    "pipeline/execution/test_loop.py::test_the_first_answer_counts_and_the_other_costs_nothing[late and agrees]",
    "pipeline/execution/test_resume.py::test_an_interrupted_run_goes_on_with_what_is_left[1]",
    "pipeline/execution/test_run.py::test_all_outputs_of_all_kinds_of_trajectory[delta_rl5_1450]",
    "pipeline/simulated/test_simulated_sweeps.py::test_gains_and_states_are_cut_where_they_are_many[2-",
    "pipeline/simulated/test_simulated_sweeps.py::test_gains_and_states_are_cut_where_they_are_many[4-",
    "pipeline/sweep/test_chains.py::test_any_blocks_and_threads_give_the_same_bits[limb]",
    "pipeline/sweep/test_linear.py::test_two_formulations_of_the_equations_give_the_same_matrices[three_loop_leg]",
    "pipeline/sweep/test_terms.py::test_equations_of_motion_close_with_the_forces_of_loads[gough_stewart]",
    "reference/test_reference.py::test_agrees_with_pinocchio[0-rl5]",
    "reference/test_reference.py::test_motor_power_is_the_rate_of_energy[rl5]",
    *(
        f"robots/catalog/test_literature.py::test_chains_agree_with_pinocchio[{name}]"
        for name in ("coupled_3prs", "palletiser", "par4", "tricept")
    ),
    "robots/formats/test_branch.py::test_forward_kinematics_stays_on_its_assembly[2.5]",
    "robots/formats/test_mjcf.py::test_forces_of_a_closed_chain_are_those_of_mujoco[weld of sites]",
    "robots/formats/test_mjcf.py::test_forces_of_a_closed_chain_are_those_of_mujoco[weld at an anchor]",
    "tasks/blocks/test_gradients.py::test_friction_loaded_by_reactions_is_differentiated[delta_3rr2rrr-all]",
    "tasks/blocks/test_gradients.py::test_every_parameter_of_every_robot_against_finite_differences[irsbot2]",
    "tasks/blocks/test_simulated_quantities.py::test_every_quantity_is_there_or_refused_with_its_reason[criteria]",
    "tasks/blocks/test_simulated_quantities.py::test_every_quantity_is_there_or_refused_with_its_reason[delta]",
    "tasks/blocks/test_simulated_quantities.py::test_every_quantity_is_there_or_refused_with_its_reason[friction]",
    "tasks/blocks/test_simulated_quantities.py::test_every_quantity_is_there_or_refused_with_its_reason[motors]",
    "tasks/dynamics/test_inverse.py::test_forces_along_the_paper_agree_with_the_reference[10.0]",
    "tasks/dynamics/test_currents.py::test_currents_bring_the_arm_to_its_static_state_and_hold_it[rk4]",
    *(
        f"tasks/dynamics/test_platforms.py::{name}[{row}]"
        for name in (
            "test_energy_is_kept",
            "test_large_turns_keep_the_rotation_orthonormal",
            "test_loops_drift_open_and_are_closed_again",
        )
        for row in ("gough_stewart-joint", "hexapod_6rrrprr-actuator", "hexapod_6rrrprr-task_space")
        if (name, row) != ("test_loops_drift_open_and_are_closed_again", "hexapod_6rrrprr-task_space")
    ),
    "tasks/dynamics/test_platforms.py::test_forms_agree_with_each_other_and_with_the_adaptive_integrator[hexapod_6rrrprr]",
    "tasks/dynamics/test_platforms.py::test_a_load_in_the_axes_of_the_platform_turns_with_it[actuator]",
    "tasks/dynamics/test_platforms.py::test_a_case_that_leaves_the_workspace_ends_and_others_go_on[actuator]",
    "tasks/mechanics/test_clusters.py::test_reactions_are_those_of_the_whole_system[dyad]",
    "tasks/mechanics/test_clusters.py::test_reactions_are_those_of_the_whole_system[third rod]",
    "tasks/mechanics/test_drives_symbolic.py::test_torques_are_those_of_lagrange[0.0-driven_3_curved]",
    "tasks/test_screws.py::test_compiled_kernels_give_the_bits_of_the_interpreter[wrists]",
    "tasks/test_screws.py::test_forces_are_linear_in_the_parameters_of_the_bodies[wrists]",
    "tasks/test_screws.py::test_forward_dynamics_undoes_inverse_dynamics[wrists]",
    "tasks/test_screws.py::test_friction_of_a_passive_screw_is_that_of_its_load[loop, screw cut]",
    "tasks/test_screws.py::test_joint_motion_is_the_derivative_of_the_positions[loop, screw cut]",
    "applications/identification/estimation/test_base.py::test_random_states_of_a_parallelogram_are_not_crossed[0]",
    "applications/identification/machines/test_machines.py::test_a_store_of_recordings_gives_the_same_bits[robot file]",
    "applications/identification/machines/test_machines.py::test_a_store_of_recordings_gives_the_same_bits[urdf]",
    "applications/studies/test_optimisation.py::test_the_optimum_beats_the_best_of_ten_thousand_designs[peak_force]",
    "bad_inputs/test_fuzz.py::test_a_mutated_document_is_read_or_refused[robot]",
    "benchmarks/campaigns/test_fuzz_targets.py::test_every_target_reads_its_seeds_and_bears_others[macros]",
    "pipeline/execution/test_run.py::test_any_blocks_give_the_same_bits[pairs-limb]",
    "pipeline/test_examples.py::test_a_part_of_an_example_runs[hexapod_identification]",
    "robots/formats/test_macros.py::test_what_grows_without_end_ends_in_a_sentence[macros that double]",
    "storage/places/test_lost_answers.py::test_a_dead_endpoint_is_one_line[settings1]",
    "storage/test_growth.py::test_an_append_that_is_interrupted_anywhere_goes_on[designs]",
    "tasks/blocks/test_gradients.py::test_every_parameter_of_every_robot_against_finite_differences[hexapod_ball_screws]",
    "tasks/blocks/test_simulated_quantities.py::test_series_are_those_of_the_same_motion_given[friction]",
    "tasks/dynamics/test_paradox.py::test_there_are_as_many_motions_as_by_enumeration_of_modes[1.3]",
    "tasks/dynamics/test_paradox.py::test_there_are_as_many_motions_as_by_enumeration_of_modes[2.5]",
    "tasks/dynamics/test_platforms.py::test_forms_agree_with_each_other_and_with_the_adaptive_integrator[gough_stewart]",
    "tasks/mechanics/test_drives_symbolic.py::test_torques_are_those_of_lagrange[1.0-driven_3]",
    *(
        "applications/studies/populations/test_search.py::"
        f"test_a_coarse_model_selects_candidates_again_where_a_search_goes_on[{method}]"
        for method in ("random", "tpe")
    ),
    "benchmarks/counts/test_peak.py::test_chains_that_keep_the_units_busy_stay_in_registers[neon]",
    "benchmarks/test_cases.py::test_a_case_gives_its_figures[published]",
    "benchmarks/test_robots.py::test_a_robot_of_the_core_has_its_figures[delta_3r2us]",
    "robots/formats/test_effects.py::test_effects_of_models_of_mujoco[springs]",
    "robots/formats/test_effects.py::test_effects_of_models_of_mujoco[tendons]",
    "robots/formats/test_mjcf.py::test_forces_of_a_closed_chain_are_those_of_mujoco[connect]",
    "robots/formats/test_mjcf.py::test_a_joint_that_an_equality_holds_stands_still[lift]",
    "pipeline/execution/test_run.py::test_any_blocks_give_the_same_bits[five designs-limb]",
    "pipeline/execution/test_foreign_python.py::test_the_environment_is_put_back_after_a_run[1]",
    "pipeline/stores/test_append.py::test_a_larger_store_is_that_of_the_larger_sweep[friction]",
    "pipeline/sweep/test_derivatives.py::test_bits_do_not_depend_on_blocks[block]",
    "pipeline/sweep/axes/test_gravity.py::test_swept_gravity_is_that_of_sweeps_of_their_own[delta_rl5_1450]",
    "storage/test_growth.py::test_an_append_that_is_interrupted_anywhere_goes_on[friction]",
    "tasks/kernels/test_targets.py::test_bits_of_other_processors[x86-64-v2-irb6]",
    "tasks/kernels/test_cotangents.py::test_limbs_of_robots[hexapod_ball_screws]",
    "tasks/kernels/test_single.py::test_every_robot_keeps_its_digits[delta_3r2us]",
    "tasks/features/friction/test_states.py::test_deflection_converges_to_the_equation_with_order_two[options-0.01]",
    "tasks/features/friction/test_states.py::test_deflection_converges_to_the_equation_with_order_two[plain-0.002]",
    "tasks/mechanics/test_drives_symbolic.py::test_torques_are_those_of_lagrange[0.0-driven_3]",
    "tasks/mechanics/test_branches.py::test_legs_that_turn_over_on_their_way[place2-turn2]",
    "tasks/mechanics/test_clusters.py::test_agrees_with_pinocchio[dyad]",
    "tasks/mechanics/test_coupled_platforms.py::test_a_wrench_on_the_platform_is_that_of_pinocchio[delta-world]",
    "tasks/mechanics/test_every_row.py::test_works_where_the_choice_of_rows_fails_and_agrees_with_pinocchio[0.1]",
    "tasks/mechanics/test_every_row.py::test_reactions_go_on_where_a_choice_of_rows_is_singular[1e-06]",
    "tasks/dynamics/test_servo.py::test_a_servo_moves_a_chain_as_the_sweep_says[pd-actuator]",
    "tasks/dynamics/test_platforms.py::test_energy_is_kept[gough_stewart-actuator]",
    "tasks/dynamics/test_platforms.py::test_large_turns_keep_the_rotation_orthonormal[gough_stewart-actuator]",
    "tasks/dynamics/test_platforms.py::test_loops_drift_open_and_are_closed_again[gough_stewart-actuator]",
    "tasks/dynamics/test_platforms.py::test_forms_agree_with_each_other_and_with_the_adaptive_integrator[delta_3r2us]",
    "tasks/dynamics/test_differentiate.py::test_both_directions_agree_for_all_functions[five_bar]",
    "tasks/dynamics/test_rest.py::test_a_leg_runs_through_poses_where_a_joint_turns_round[joints0]",
    "tasks/blocks/test_gradients.py::test_every_parameter_of_every_robot_against_finite_differences[hexapod_6rrrprr]",
    "tasks/blocks/test_simulated_quantities.py::test_series_are_those_of_the_same_motion_given[criteria]",
    "tasks/stages/test_equations.py::test_compiled_programs_give_the_bits_of_the_interpreter[hexapod_6rrrprr]",
    "tasks/test_robots.py::test_agrees_with_pinocchio[irsbot2]",
    "applications/identification/test_identify.py::"
    "test_parameters_come_back_from_encoders_within_their_deviations[gough_stewart]",
    "applications/identification/test_imported.py::test_an_imported_robot_is_identified[plain]",
    "applications/identification/estimation/machines/test_payloads.py::test_deviations_are_as_large_as_errors[known]",
    "applications/identification/estimation/machines/test_variants.py::"
    "test_every_judgement_runs_under_every_variant[known-stribeck]",
    "applications/report/test_accessor.py::test_a_table_of_designs_is_with_its_results[compute]",
    "applications/studies/populations/test_search.py::"
    "test_a_coarse_model_selects_candidates_again_where_a_search_goes_on[nsga2]",
    "applications/studies/populations/test_search.py::test_methods_repeat_themselves_and_beat_random_points[gp]",
    "test_robot_file_page.py::test_the_whole_examples_move_as_gravity_says[quattro]",
    # The same examples are computed whole, to their last bit, by `test_house.py`; the last three are built as others.
    *(
        f"pipeline/test_examples.py::test_a_part_of_an_example_runs[{name}]"
        for name in (
            "delta",
            "five_axis_tree",
            "five_bar",
            "gough_stewart",
            "identification",
            "irb6",
            "coupled_3rps",
            "hexa",
            "hexaglide",
        )
    ),
    "benchmarks/test_cases.py::test_a_case_gives_its_figures[kernel]",
    "applications/identification/test_excite.py::test_workers_do_not_change_the_best[threads]",
    "applications/report/test_browser.py::test_nothing_is_wider_than_the_window[1920]",
    "applications/report/test_browser.py::test_nothing_is_wider_than_the_window[820]",
    "applications/report/test_browser.py::test_the_slider_moves_the_mechanism[1-40]",
    "applications/studies/populations/test_families.py::test_methods_find_the_best_of_the_best_family[gp]",
    "tasks/sources/test_time_loop.py::test_the_bits_are_those_of_steps_taken_alone[a chain with dry friction",
    "applications/identification/machines/test_machines.py::test_a_store_of_recordings_gives_the_same_bits[catalogue]",
    "tasks/dynamics/test_rest.py::test_a_leg_runs_through_poses_where_a_joint_turns_round[all]",
)

LONG = (
    # Shorter tests of the same code stay in the gate.
    "applications/identification/estimation/machines/test_closed_loop.py::test_the_reference_alone_gives_instruments",
    "applications/identification/estimation/test_excitation.py::"
    "test_d_optimal_motions_of_a_carriage_are_those_of_another_search_on_columns_by_hand",
    "applications/identification/test_dataset.py::test_a_pass_goes_on_exactly_and_workers_share_its_windows",
    "applications/report/page/test_page.py::test_a_page_of_a_hundred_thousand_designs_has_all_of_them",
    "pipeline/plan/test_plan.py::test_the_memory_that_a_plan_states_is_not_exceeded",
    "pipeline/sweep/axes/test_columns.py::test_a_store_of_ten_million_designs_is_made_and_opened_in_little_memory",
    "pipeline/sweep/trajectories/test_loads.py::test_any_blocks_give_the_same_bits",
    "robots/formats/test_parametric.py::test_a_linkage_of_mujoco_from_its_model_to_a_report",
    "storage/test_s3.py::test_a_service_that_throttles_or_whose_answers_are_lost",
    "storage/test_s3.py::test_of_two_coordinators_on_s3_one_runs",
    "tasks/sources/test_simulated_blocks.py::test_bits_do_not_depend_on_the_cut",
    "tasks/stages/test_limb.py::test_compiled_equals_interpreted_bit_for_bit[delta_3rr2rrr]",
    "tasks/stages/test_redundancy.py::test_two_free_joints_one_of_them_of_the_base",
    "applications/identification/estimation/machines/test_closed_loop.py::test_what_cannot_be_simulated_is_refused",
    "applications/report/data/test_maps.py::test_a_page_has_the_maps_of_the_store",
    "applications/studies/test_workspaces.py::test_largest_ball_is_on_the_side_of_home_and_a_larger_one_elsewhere_is_told",
    "pipeline/simulated/test_simulated_sweeps.py::test_a_store_has_the_dims_of_all_axes",
    "pipeline/sweep/test_selection.py::test_some_joints_and_links_have_the_bits_of_all",
    "applications/studies/test_workspaces.py::"
    "test_a_hull_with_the_corners_of_a_box_is_the_box_and_one_of_three_is_the_largest_triangle",
    "storage/test_s3.py::test_a_service_that_does_nothing_but_throttle_is_one_line_and_the_run_goes_on_later",
    "pipeline/execution/test_foreign_python.py::test_a_submitted_run",
    "tasks/dynamics/test_rest.py::test_bristles_in_the_joints_of_a_loop",
    "tasks/features/friction/test_states.py::test_the_published_test_case",
    # That bits do not depend on blocks is shown of chains, derivatives, precisions and many others.
    "applications/identification/test_dataset.py::test_bits_do_not_depend_on_blocks",
    "pipeline/sweep/test_loads.py::test_results_do_not_depend_on_blocks",
    "applications/report/test_browser.py::test_the_arrow_keys_step_along_the_front",
    "applications/report/test_browser.py::test_the_theme_is_switched",
    "benchmarks/campaigns/test_power.py::test_what_goes_on_after_a_loss_of_power_ends_the_same",
    "tasks/kernels/test_cards.py::test_the_benchmark_compares_bits",
    "applications/identification/estimation/machines/test_fitting.py::test_positions_that_no_pose_has_are_refused",
    "applications/identification/test_excite.py::test_a_platform_keeps_limits_of_its_actuators",
    "applications/identification/test_identify.py::test_friction_that_reactions_load_comes_back_with_all_others",
    "benchmarks/runs/test_identification.py::test_designs_together_are_identified_as_each_alone",
    "pipeline/execution/test_run.py::test_every_friction_set_and_trajectory_equals_a_sweep_of_it",
    "pipeline/sweep/test_cycles.py::test_a_cycle_time_is_made_small_and_what_has_no_derivative_is_refused",
    "tasks/dynamics/test_chains.py::test_stiction_comes_to_rest_along_another_curve_than_it_leaves_it",
    "tasks/dynamics/test_platforms.py::test_a_spring_as_feedback_keeps_what_energy_it_has",
    "tasks/dynamics/test_platforms.py::test_a_step_that_is_too_long_is_cut",
)

LEFT = tuple(f"tests/{name}" for name in (*CAMPAIGNS, *PAGES, *CLUSTERS, *OTHER_ROWS, *LONG))
"""Beginnings of the names of these tests, as pytest writes them."""
