import assert from 'node:assert/strict';
import { isTimeZone, scheduleProblem } from './schedule.js';
import { processorMs } from '../../../../machinery/testing/processor-time.js';

describe('scheduleProblem()', () => {
  const RIGHT = [
    '* * * * *',
    '*/5 0-23/2 1,15 JAN-dec Mon-Fri',
    '  0 0 ? * 0  ',
    '5/10 * * * *',
    '@daily',
    '@every 1h30m0.5s',
    '@every 0',
    'TZ=Europe/Zurich 0 8 * * *',
    'CRON_TZ=UTC @hourly',
    ',0 0 * * *',
  ];
  for (const schedule of RIGHT) {
    it(`finds nothing in ${schedule}`, () => assert.equal(scheduleProblem(schedule), undefined));
  }

  const WRONG: readonly (readonly [schedule: string, problem: string])[] = [
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['0 0 0 * * *', 'expected exactly 5 fields, found 6: [0 0 0 * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* 24 * * *', 'end of range (24) above maximum (23): 24'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * 13 *', 'end of range (13) above maximum (12): 13'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
    ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['mon * * * *', 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
    [
      '99999999999999999999 * * * *',
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ['@fortnightly', 'unrecognized descriptor: @fortnightly'],
    ['@every day', 'failed to parse duration @every day: time: invalid duration "day"'],
    ['TZ=Mars/Base 0 8 * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
    ['TZ=UTC', 'expected exactly 5 fields, found 0: []'],
  ];
  for (const [schedule, problem] of WRONG) {
    it(`says what is wrong with ${schedule}`, () => assert.equal(scheduleProblem(schedule), problem));
  }

  it('takes time linear in the schedule', () => {
    const tookMs = processorMs(() => {
      for (const part of ['1,', '1-', '1/', ' ', '1 ', '0s']) scheduleProblem(`${part.repeat(500_000)}x`);
      for (const part of ['1h', '1', '.', '1.']) scheduleProblem(`@every ${part.repeat(500_000)}x`);
    });
    assert.ok(tookMs < 5_000);
  });
});

describe('isTimeZone()', () => {
  it('tells zones by their names', () => {
    assert.deepEqual(['UTC', 'Europe/Zurich', '', 'Local', '+01:00', 'Mars/Base', 'America/New York'].map(isTimeZone), [
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
