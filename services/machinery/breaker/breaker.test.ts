import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { LeftAlone, openBreaker, type Breaker, type BreakerOptions } from './breaker.js';

const TIMES = { volume: 4, failurePercent: 50, windowMs: 10_000, restMs: 60_000 };

describe('a breaker', () => {
  let told: string[];
  const opened = (o: Partial<BreakerOptions> = {}): Promise<Breaker> =>
    openBreaker({
      ...TIMES,
      isFault: () => true,
      observer: { changed: (state) => told.push(state), gone: () => told.push('gone') },
      ...o,
    });
  const fails = (): Promise<never> => Promise.reject(new Error('away'));
  const answers = (): Promise<string> => Promise.resolve('well');
  const failOften = async (it: Breaker): Promise<void> => {
    for (let i = 0; i < TIMES.volume; i++) await assert.rejects(it.fire(fails));
  };

  beforeEach(() => {
    told = [];
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  it('leaves a peer alone that fails too often, lets one call through after a while, and tells of each state', async () => {
    const it = await opened();
    assert.equal(await it.fire(answers), 'well');
    await failOften(it);
    let asked = false;
    const ask = (): Promise<void> => Promise.resolve(void (asked = true));
    await assert.rejects(it.fire(ask), LeftAlone);
    assert.equal(asked, false);
    assert.deepEqual(told, ['closed', 'open']);
    mock.timers.tick(TIMES.restMs);
    assert.deepEqual(told.slice(2), ['half_open']);
    await assert.rejects(it.fire(fails), /away/);
    mock.timers.tick(TIMES.restMs);
    await it.fire(answers);
    assert.deepEqual(told.slice(3), ['open', 'half_open', 'closed']);
    it.shutdown();
    assert.equal(told.at(-1), 'gone');
    await assert.rejects(it.fire(answers), LeftAlone);
  });

  it('counts what its owner calls a fault, and heals when told', async () => {
    const patient = await opened({ isFault: () => false });
    await failOften(patient);
    await patient.fire(answers);
    const it = await opened();
    await failOften(it);
    it.heal();
    assert.equal(await it.fire(answers), 'well');
    for (const breaker of [patient, it]) breaker.shutdown();
  });
});
