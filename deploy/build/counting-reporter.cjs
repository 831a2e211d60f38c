// Mocha's dots, and a file with the counts for the script that adds them up. CommonJS, for Mocha loads reporters so.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(process.env.TEST_COUNTS, JSON.stringify({ passed: passes, failed: failures, skipped: pending }));
    });
  }
};
