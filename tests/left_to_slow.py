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
    *(
        f"benchmarks/test_cases.py::test_a_case_gives_its_figures[{name}]"
        for name in (
            "blocks", "busy", "coordinator", "dataset", "friction", "large", "memory", "robots", "run", "shapes",
            "small", "thousand", "thousand_limbs",
        )
    ),
)  # fmt: skip

PAGES = (
    # The whole site is built by `make docs`; links, names and the code of the other pages are tested one by one.
    "test_site.py::test_the_site_is_whole",
    "test_pages.py::test_a_page_runs[docs/guide/publishing.md]",
    "test_pages.py::test_a_page_runs[docs/report.md]",
    "test_pages.py::test_a_page_runs[docs/studies.md]",
    "test_notebooks.py::test_a_notebook_runs[design_study]",
    "test_notebooks.py::test_a_notebook_runs[own_robot_and_cluster]",
    "test_notebooks.py::test_a_notebook_runs[recording]",
    "test_examples_in_docstrings.py::test_a_public_name_has_an_example_that_runs[excite]",
    "test_examples_in_docstrings.py::test_a_public_name_has_an_example_that_runs[study.workspace]",
)

CLUSTERS = (
    # Workers that come and leave, and killed workers of limb tasks, stay in the gate.
    "pipeline/execution/test_elastic.py::test_an_adaptive_cluster_grows_with_what_a_run_has_left",
    "pipeline/execution/test_elastic.py::test_a_store_that_is_slower_than_the_computation_does_not_fill_the_cluster",
    "pipeline/execution/test_elastic.py::test_blocks_of_a_worker_that_stands_still_are_computed_by_another",
    "pipeline/execution/test_resume.py::test_killed_workers_cost_no_block[block]",
    "pipeline/execution/test_run.py::test_two_processes_give_the_same_bits[limb]",
    "pipeline/execution/test_foreign_python.py::test_packages_that_are_found_through_the_current_folder_alone[run]",
)

OTHER_ROWS = (
    # Another row of the same table stays in the gate.
    "applications/identification/estimation/calibration/test_calibrate.py::"
    "test_the_geometry_of_every_limb_is_found_within_its_deviations[gough_stewart",
    "applications/identification/estimation/machines/test_variants.py::"
    "test_every_judgement_runs_under_every_variant[known and unknown-stribeck]",
    "applications/identification/estimation/test_base.py::test_as_many_as_energy_tells_apart[irb6]",
    "applications/identification/test_identify.py::test_a_gravity_test_gives_what_weight_tells[irb6]",
    "applications/identification/test_identify.py::"
    "test_parameters_come_back_from_encoders_within_their_deviations[irb6]",
    "bad_inputs/test_hostile_tables.py::test_hostile_tables_end_in_a_sentence[identify]",
    "benchmarks/test_composition.py::test_features_and_a_door_work_together_or_are_refused[append]",
    "benchmarks/test_composition.py::test_features_and_a_door_work_together_or_are_refused[lazy]",
    "benchmarks/test_composition.py::test_features_and_a_door_work_together_or_are_refused[mat]",
    "pipeline/execution/test_run.py::test_any_blocks_give_the_same_bits[pairs-block]",
    "pipeline/execution/test_run.py::test_any_blocks_give_the_same_bits[two pairs, two friction sets-limb]",
    "pipeline/simulated/test_simulated_sweeps.py::test_gains_and_states_are_cut_where_they_are_many[2-",
    "pipeline/simulated/test_simulated_sweeps.py::test_gains_and_states_are_cut_where_they_are_many[4-",
    "pipeline/sweep/test_chains.py::test_any_blocks_and_threads_give_the_same_bits[limb]",
    "reference/test_reference.py::test_agrees_with_pinocchio[0-rl5]",
    "robots/catalog/test_literature.py::test_chains_agree_with_pinocchio[par4]",
    "robots/formats/test_branch.py::test_forward_kinematics_stays_on_its_assembly[2.5]",
    "robots/formats/test_mjcf.py::test_forces_of_a_closed_chain_are_those_of_mujoco[weld of sites]",
    "tasks/blocks/test_gradients.py::test_friction_loaded_by_reactions_is_differentiated[delta_3rr2rrr-all]",
    "tasks/blocks/test_simulated_quantities.py::test_every_quantity_is_there_or_refused_with_its_reason[delta]",
    "tasks/blocks/test_simulated_quantities.py::test_every_quantity_is_there_or_refused_with_its_reason[friction]",
    "tasks/blocks/test_simulated_quantities.py::test_every_quantity_is_there_or_refused_with_its_reason[motors]",
    "tasks/dynamics/test_inverse.py::test_forces_along_the_paper_agree_with_the_reference[10.0]",
    "tasks/mechanics/test_drives_symbolic.py::test_torques_are_those_of_lagrange[0.0-driven_3_curved]",
)

LONG = (
    # Shorter tests of the same code stay in the gate.
    "applications/identification/estimation/test_excitation.py::"
    "test_d_optimal_motions_of_a_carriage_are_those_of_another_search_on_columns_by_hand",
    "applications/identification/test_dataset.py::test_a_pass_goes_on_exactly_and_workers_share_its_windows",
    "applications/report/page/test_page.py::test_a_page_of_a_hundred_thousand_designs_has_all_of_them",
    "pipeline/sweep/axes/test_columns.py::test_a_store_of_ten_million_designs_is_made_and_opened_in_little_memory",
    "pipeline/sweep/trajectories/test_loads.py::test_any_blocks_give_the_same_bits",
    "robots/formats/test_parametric.py::test_a_linkage_of_mujoco_from_its_model_to_a_report",
    "tasks/sources/test_simulated_blocks.py::test_bits_do_not_depend_on_the_cut",
    "tasks/stages/test_limb.py::test_compiled_equals_interpreted_bit_for_bit[delta_3rr2rrr]",
)

LEFT = tuple(f"tests/{name}" for name in (*CAMPAIGNS, *PAGES, *CLUSTERS, *OTHER_ROWS, *LONG))
"""Beginnings of the names of these tests, as pytest writes them."""
