// Loaded before a server's own code: the process takes the time of day to be another one, by as much as a file says, which may
// change at any time. Clocks that only rise are left alone, as they are when somebody sets a machine's clock.
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 100;
const file = process.env['CLOCK_FILE'] ?? '';
const RealDate = Date;
let aheadMs = 0;

function look(): void {
  try {
    aheadMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    aheadMs = 0; // nobody has set it yet
  }
}

class SteppedDate extends RealDate {
  constructor(...given: [] | [string | number | Date]) {
    if (given.length === 0) super(RealDate.now() + aheadMs);
    else super(...given);
  }

  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

if (file !== '') {
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
  globalThis.Date = SteppedDate as DateConstructor;
}
