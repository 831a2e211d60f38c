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
