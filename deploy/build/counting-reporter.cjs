// Mocha's dots, and a file for the script that adds the suites up: the counts, and what failed. CommonJS, for Mocha loads
// reporters so.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    const failures = [];
    runner.on('fail', (test, err) =>
      failures.push(`${test.fullTitle()}: ${String(err?.message ?? err).split('\n', 1)[0]}`),
    );
    runner.once('end', () => {
      const { passes, pending } = this.stats;
      const counts = { passed: passes, failed: failures.length, skipped: pending, failures };
      writeFileSync(process.env.TEST_COUNTS, JSON.stringify(counts));
    });
  }
};
