import type { Work } from '../work/work.js';
import type { Comprehension } from './ast.js';
import { forgivable, inSteps, wantBool, type Frame, type Node } from './code.js';
import { CelError, CelMap, isList, typeNameOf, type Value } from './values.js';

/** What a loop is made of. */
export interface LoopParts {
  readonly range: Node;
  readonly body: Node;
  readonly filter: Node | undefined;
  /** Of the first variable; the second has the one after it. */
  readonly place: number;
  /** Whether there are two variables. */
  readonly both: boolean;
}

/** Loops are what takes long: they yield where a slice of steps is over. */
export function loopNode(kind: Exclude<Comprehension['loop'], 'bind'>, parts: LoopParts): Node {
  const { range, both } = parts;
  const loop = LOOPS[kind];
  return inSteps(function* (frame) {
    const value = range.code === undefined ? yield* range.steps(frame) : range.code(frame);
    return yield* loop(elementsOf(value, both), frame, parts);
  });
}

/** A variable for one value: no loop, though it is written as one. */
export function bindNode({ range, body, place }: LoopParts): Node {
  const { code } = range;
  const inner = body.code;
  if (code !== undefined && inner !== undefined) {
    return {
      code: (frame) => {
        frame.slots[place] = code(frame);
        return inner(frame);
      },
    };
  }
  return inSteps(function* (frame) {
    frame.slots[place] = range.code === undefined ? yield* range.steps(frame) : range.code(frame);
    return body.code === undefined ? yield* body.steps(frame) : body.code(frame);
  });
}

/** One entry of what a loop goes through: the first variable, and the second where there are two. */
type Element = readonly [first: Value, second: Value];

function elementsOf(range: Value, both: boolean): Iterable<Element> {
  if (isList(range)) return itemsOf(range, both);
  if (range instanceof CelMap) return range.entries();
  throw new CelError(`no such overload: a loop over ${typeNameOf(range)}`);
}

function* itemsOf(list: readonly Value[], both: boolean): Iterable<Element> {
  let i = 0n;
  for (const item of list) yield both ? [i++, item] : [item, null];
}

type Loop = (elements: Iterable<Element>, frame: Frame, parts: LoopParts) => Work<Value>;

function bind(frame: Frame, place: number, [first, second]: Element): void {
  frame.spend(1);
  frame.slots[place] = first;
  frame.slots[place + 1] = second;
}

/** A failure counts only where no other element decides. */
const decidedBy = (decisive: boolean): Loop =>
  function* (elements, frame, { body, place }) {
    let failure: CelError | undefined;
    for (const element of elements) {
      if (frame.ends()) yield;
      try {
        bind(frame, place, element);
        const value = body.code === undefined ? yield* body.steps(frame) : body.code(frame);
        if (wantBool(value) === decisive) return decisive;
      } catch (err) {
        const forgiven = forgivable(err, frame);
        failure ??= forgiven;
      }
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  };

/** Is told of the elements that the filter lets through, with what the body makes of them. */
interface Gathering {
  readonly take: (element: Element, made: Value) => void;
  readonly finish: () => Value;
}

const gathered = (begin: () => Gathering): Loop =>
  function* (elements, frame, { body, filter, place }) {
    const { take, finish } = begin();
    for (const element of elements) {
      if (frame.ends()) yield;
      if (filter !== undefined) {
        bind(frame, place, element);
        if (!wantBool(filter.code === undefined ? yield* filter.steps(frame) : filter.code(frame))) continue;
      }
      bind(frame, place, element);
      take(element, body.code === undefined ? yield* body.steps(frame) : body.code(frame));
    }
    return finish();
  };

const listed = gathered(() => {
  const out: Value[] = [];
  return { take: (_, made) => void out.push(made), finish: () => out };
});

const filtered = gathered(() => {
  const out: Value[] = [];
  return {
    take: ([first], holds) => {
      if (wantBool(holds)) out.push(first);
    },
    finish: () => out,
  };
});

const counted = gathered(() => {
  let count = 0;
  return {
    take: (_, holds) => {
      if (wantBool(holds)) count++;
    },
    finish: () => count === 1,
  };
});

const mapped = (add: (out: Element[], key: Value, made: Value) => void): Loop =>
  gathered(() => {
    const out: Element[] = [];
    return {
      take: ([key], made) => {
        add(out, key, made);
      },
      finish: () => CelMap.of(out),
    };
  });

const LOOPS: Readonly<Record<Exclude<Comprehension['loop'], 'bind'>, Loop>> = {
  all: decidedBy(false),
  exists: decidedBy(true),
  existsOne: counted,
  filter: filtered,
  map: listed,
  transformList: listed,
  transformMap: mapped((out, key, made) => void out.push([key, made])),
  transformMapEntry: mapped((out, _, made) => {
    if (!(made instanceof CelMap)) throw new CelError(`no such overload: ${typeNameOf(made)} where a map is wanted`);
    for (const entry of made.entries()) out.push(entry);
  }),
};
