"""The audit log of a daemon that has been flooded: each user keeps a part of it."""

import os
import sqlite3
import time
import unittest

from support import Daemon, main, until

FLOOD = 210_000
KEPT = 200_000  # of all users together


class AuditRows(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)

    def count(self, user):
        with sqlite3.connect(os.path.join(self.daemon.state, "pliant.db"), timeout=60) as base:
            return base.execute("SELECT count(*) FROM audit WHERE user=?", (user,)).fetchone()[0]

    def test_a_part_for_each_user(self):
        self.daemon.end()
        now = int(time.time())
        row = "(at, user, by, credential, action, target, status, address)"
        with sqlite3.connect(os.path.join(self.daemon.state, "pliant.db")) as base:
            for user, rows in (("alice", 50), ("mallory", FLOOD)):
                base.executemany(
                    f"INSERT INTO audit{row} VALUES(?, ?, 'token', '', 'x', 'y', 200, '')",
                    ((now, user) for _ in range(rows)),
                )
        self.daemon.start()  # what is too much goes at the start, and each hour
        until(lambda: self.count("mallory") < FLOOD, "the flood is cut")
        self.assertEqual(self.count("alice"), 50)
        self.assertLessEqual(self.count("mallory"), KEPT // 2)


if __name__ == "__main__":
    main()
