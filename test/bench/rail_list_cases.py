"""What this machine has for rails."""

import json

from bench_case import BenchTest
from bench_process import run, run_report


class RailLists(BenchTest):
    def test_this_machines_rails(self):
        outcome, report = run_report("--list-rails")
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.assertEqual(report["schema"], "corail.rails.v1")
        rails = [rail for interface in report["interfaces"] for rail in interface["rails"]]
        self.assertIn("tcp:127.0.0.1", rails)
        rails += [port["rail"] for device in report["devices"] for port in device["ports"]]
        for text in rails + report["problems"]:
            self.assertIn(text, outcome.out)
        if not report["devices"]:
            self.assertEqual(len(report["problems"]), 1)
            self.assertIn("RDMA device", report["problems"][0])

    def test_the_report_alone_on_standard_output(self):
        outcome = run("--list-rails", "--json", "-")
        self.assertEqual(outcome.code, 0)
        self.assertIn("interfaces", json.loads(outcome.out))
        self.assertIn("tcp:127.0.0.1", outcome.err)
