// Loaded before a server's own code: from here on the process takes the time of day to be another one. Clocks that only rise
// are left alone, as they are when an operator, or a time server, sets a machine's clock.
const aheadMs = Number(process.env['CLOCK_AHEAD_MS'] ?? 0);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...given: [] | [string | number | Date]) {
    if (given.length === 0) super(RealDate.now() + aheadMs);
    else super(...given);
  }

  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
