import assert from 'node:assert/strict';
import { ReviewError } from './review-error.js';
import { SharedQuestions } from './shared-questions.js';

describe('SharedQuestions', () => {
  interface Asked {
    readonly key: string;
    readonly answer: (value: string) => void;
    readonly fail: (err: Error) => void;
  }
  let asked: Asked[];
  beforeEach(() => (asked = []));
  const ask = (questions: SharedQuestions<string>, key: string): Promise<string> =>
    questions.ask(key, () => new Promise((answer, fail) => void asked.push({ key, answer, fail })));

  it('asks once for all who come at the same time', async () => {
    const questions = new SharedQuestions<string>();
    const all = [ask(questions, 'a'), ask(questions, 'a'), ask(questions, 'b')];
    assert.deepEqual(asked.map(({ key }) => key), ['a', 'b']); // prettier-ignore
    for (const { key, answer } of asked) answer(key);
    assert.deepEqual(await Promise.all(all), ['a', 'a', 'b']);
  });

  it('asks again afterwards, also after a failure', async () => {
    const questions = new SharedQuestions<string>();
    const first = [ask(questions, 'a'), ask(questions, 'a')];
    const failure = new Error('no');
    asked[0]!.fail(failure);
    for (const it of first) await assert.rejects(it, failure);
    const second = ask(questions, 'a');
    asked[1]!.answer('x');
    assert.equal(await second, 'x');
  });

  describe('of askers who leave', () => {
    const shared = (questions: SharedQuestions<string>, signal?: AbortSignal): Promise<string> =>
      questions.ask(
        'a',
        (left) =>
          new Promise((answer, fail) => {
            asked.push({ key: 'a', answer, fail });
            left.addEventListener('abort', () => fail(left.reason as Error));
            ends.push(left);
          }),
        signal && { signal },
      );
    const gone = new Error('gone');
    let ends: AbortSignal[];
    beforeEach(() => (ends = []));

    it('lets one go, and goes on for the others', async () => {
      const questions = new SharedQuestions<string>();
      const [one, other] = [new AbortController(), new AbortController()];
      const leaves = shared(questions, one.signal);
      const stays = [shared(questions, other.signal), shared(questions)];
      one.abort(gone);
      await assert.rejects(leaves, gone);
      other.abort(gone);
      await assert.rejects(stays[0]!, gone);
      assert.deepEqual([asked.length, ends[0]?.aborted], [1, false]);
      asked[0]!.answer('x');
      assert.equal(await stays[1], 'x');
    });

    it('ends when nobody waits any more, and asks anew whoever comes then', async () => {
      const questions = new SharedQuestions<string>(1);
      const [one, other] = [new AbortController(), new AbortController()];
      const leave = [shared(questions, one.signal), shared(questions, other.signal)];
      one.abort(gone);
      await assert.rejects(leave[0]!, gone);
      assert.equal(ends[0]?.aborted, false);
      other.abort(gone);
      await assert.rejects(leave[1]!, gone);
      assert.equal(ends[0].reason, gone);
      const next = shared(questions);
      assert.equal(asked.length, 2);
      asked[1]!.answer('y');
      assert.equal(await next, 'y');
    });

    it('does not end what has its answer', async () => {
      const questions = new SharedQuestions<string>();
      const asker = new AbortController();
      const answer = shared(questions, asker.signal);
      asked[0]!.answer('x');
      assert.equal(await answer, 'x');
      assert.equal(ends[0]?.aborted, false);
    });
  });

  it('asks no more than so much at a time', async () => {
    const questions = new SharedQuestions<string>(2);
    const open = [ask(questions, 'a'), ask(questions, 'b')];
    await assert.rejects(ask(questions, 'c'), ReviewError);
    const shared = ask(questions, 'a');
    for (const { answer } of asked) answer('x');
    assert.deepEqual(await Promise.all([...open, shared]), ['x', 'x', 'x']);
    const next = ask(questions, 'c');
    asked[2]!.answer('y');
    assert.equal(await next, 'y');
  });
});
