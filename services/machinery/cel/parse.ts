import {
  pathOf,
  type Comprehension,
  type Entry,
  type Expr,
  type Item,
  type Literal,
  type LoopKind,
  type Member,
} from './ast.js';
import { CelSyntaxError, tokens, type Token } from './lexer.js';

/** Deepest nesting of an expression, and most nodes of one. */
const MOST_DEPTH = 100;
const MOST_NODES = 20_000;

/** Words that no variable, field or function may be called. */
export const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(
    ' ',
  ),
);

/**
 * Reads an expression in the Common Expression Language. Macros are read as what they stand for.
 *
 * @throws {CelSyntaxError} With line and column.
 */
export const parse = (source: string): Expr => new Parser(source).whole();

/** Binary operators by how tightly they bind, the loosest first. */
const LEVELS: readonly ReadonlySet<string>[] = [
  new Set(['||']),
  new Set(['&&']),
  new Set(['<', '<=', '>=', '>', '==', '!=', 'in']),
  new Set(['+', '-']),
  new Set(['*', '/', '%']),
];

const LOOPS: ReadonlyMap<string, LoopKind> = new Map<string, LoopKind>([
  ['all', 'all'],
  ['exists', 'exists'],
  ['exists_one', 'existsOne'],
  ['existsOne', 'existsOne'],
  ['map', 'map'],
  ['filter', 'filter'],
  ['transformList', 'transformList'],
  ['transformMap', 'transformMap'],
  ['transformMapEntry', 'transformMapEntry'],
]);

/** What is no field unless it is quoted: a constant, or an operator. */
const NO_FIELDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

/** What other engines call the value that a loop makes. */
const ACCUMULATOR = '__result__';

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;
  #nodes = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokens(source);
  }

  whole(): Expr {
    const expr = this.#expr();
    if (this.#token.type !== 'end') throw this.#unexpected();
    return expr;
  }

  get #token(): Token {
    return this.#tokens[this.#next] ?? { type: 'end', text: '', at: this.#source.length };
  }

  #unexpected(token = this.#token): CelSyntaxError {
    const what = token.type === 'end' ? 'the end' : JSON.stringify(token.text);
    return new CelSyntaxError(this.#source, token.at, `Syntax error: unexpected ${what}`);
  }

  #is(symbol: string): boolean {
    const { type, text, isQuoted } = this.#token;
    return text === symbol && (type === 'symbol' || (symbol === 'in' && type === 'ident' && isQuoted !== true));
  }

  #take(symbol: string): boolean {
    if (!this.#is(symbol)) return false;
    this.#next++;
    return true;
  }

  #expect(symbol: string): void {
    if (!this.#take(symbol)) throw this.#unexpected();
  }

  #node<T extends Expr>(node: T): T {
    if (++this.#nodes > MOST_NODES) throw new CelSyntaxError(this.#source, node.at, 'the expression is too large');
    return node;
  }

  #call(name: string, at: number, args: readonly Expr[], target?: Expr): Expr {
    return this.#node({ kind: 'call', name, at, target, args });
  }

  #expr(): Expr {
    if (++this.#depth > MOST_DEPTH)
      throw new CelSyntaxError(this.#source, this.#token.at, 'the expression nests too deep');
    const condition = this.#binary(0);
    const { at } = this.#token;
    let expr = condition;
    if (this.#take('?')) {
      const then = this.#binary(0);
      this.#expect(':');
      expr = this.#call('_?_:_', at, [condition, then, this.#expr()]);
    }
    this.#depth--;
    return expr;
  }

  #binary(level: number): Expr {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const { text, at } = this.#token;
      if (!operators.has(text) || !this.#take(text)) return left;
      const right = this.#binary(level + 1);
      left = this.#call(text === 'in' ? '@in' : `_${text}_`, at, [left, right]);
    }
  }

  #unary(): Expr {
    const { at } = this.#token;
    if (this.#is('!')) return this.#repeated('!', '!_', at);
    if (this.#is('-')) return this.#negative(at);
    return this.#members(this.#primary());
  }

  /** Two of them say nothing. */
  #repeated(symbol: string, name: string, at: number): Expr {
    let times = 0;
    while (this.#take(symbol)) times++;
    const operand = this.#members(this.#primary());
    return times % 2 === 1 ? this.#call(name, at, [operand]) : operand;
  }

  /** The least integer has no positive counterpart: its sign belongs to it. */
  #negative(at: number): Expr {
    const following = this.#tokens[this.#next + 1];
    if (following?.type === 'int' || following?.type === 'double') {
      this.#next += 2;
      return this.#members(this.#number(following, at, '-'));
    }
    return this.#repeated('-', '-_', at);
  }

  #number({ type, text }: Token, at: number, sign = ''): Expr {
    const value: Literal =
      type === 'double'
        ? { type, value: Number(sign + text) }
        : { type: type === 'uint' ? 'uint' : 'int', value: sign === '-' ? -BigInt(text) : BigInt(text) };
    const isOut =
      (value.type === 'int' && BigInt.asIntN(64, value.value) !== value.value) ||
      (value.type === 'uint' && BigInt.asUintN(64, value.value) !== value.value) ||
      (value.type === 'double' && !Number.isFinite(value.value));
    if (isOut) throw new CelSyntaxError(this.#source, at, `invalid ${type} literal: out of range`);
    return this.#node({ kind: 'literal', at, value });
  }

  #primary(): Expr {
    const token = this.#token;
    const { type, text, at } = token;
    if (type === 'ident') return this.#named();
    if (type === 'symbol') return this.#symbolic(text, at);
    this.#next++;
    if (type === 'int' || type === 'uint' || type === 'double') return this.#number(token, at);
    if (type === 'string') return this.#node({ kind: 'literal', at, value: { type, value: text } });
    if (type === 'bytes')
      return this.#node({ kind: 'literal', at, value: { type, value: token.bytes ?? new Uint8Array() } });
    throw this.#unexpected(token);
  }

  #symbolic(text: string, at: number): Expr {
    if (this.#take('(')) {
      const expr = this.#expr();
      this.#expect(')');
      return expr;
    }
    if (text === '[' || text === '[?') return this.#list(at);
    if (this.#take('{')) return this.#map(at);
    if (this.#take('.')) return this.#named();
    throw this.#unexpected();
  }

  #named(): Expr {
    const token = this.#token;
    const { text, at, type } = token;
    if (type !== 'ident') throw this.#unexpected();
    this.#next++;
    const constant = CONSTANTS.get(text);
    if (constant !== undefined) return this.#node({ kind: 'literal', at, value: constant });
    if (RESERVED.has(text)) throw new CelSyntaxError(this.#source, at, `reserved identifier: ${text}`);
    const open = this.#token.at;
    if (this.#take('(')) return this.#global(text, open);
    return this.#node({ kind: 'ident', at, name: text });
  }

  #global(name: string, at: number): Expr {
    const args = this.#args(')');
    if (name !== 'has') return this.#call(name, at, args);
    const [field] = args;
    if (args.length !== 1 || field?.kind !== 'select') {
      throw new CelSyntaxError(this.#source, field?.at ?? at, 'invalid argument to has() macro');
    }
    return this.#node({ ...field, test: true });
  }

  #args(end: string): Expr[] {
    const args: Expr[] = [];
    while (!this.#take(end)) {
      args.push(this.#expr());
      if (!this.#is(end)) this.#expect(',');
    }
    return args;
  }

  #members(operand: Expr): Expr {
    let expr = operand;
    for (let more = 0; more < MOST_NODES; more++) {
      const { at } = this.#token;
      if (this.#take('.')) expr = this.#member(expr, at, false);
      else if (this.#take('.?')) expr = this.#member(expr, at, true);
      else if (this.#is('[') || this.#is('[?')) {
        const name = this.#take('[?') ? '_[?_]' : (this.#expect('['), '_[_]');
        expr = this.#call(name, at, [expr, this.#expr()]);
        this.#expect(']');
      } else if (this.#is('{') && expr.kind !== 'literal') expr = this.#struct(expr, at);
      else return expr;
    }
    throw new CelSyntaxError(this.#source, operand.at, 'the expression is too large');
  }

  #member(operand: Expr, at: number, optional: boolean): Expr {
    const { type, text, isQuoted = false } = this.#token;
    if (type !== 'ident' || (NO_FIELDS.has(text) && !isQuoted)) throw this.#unexpected();
    this.#next++;
    if (isQuoted && this.#is('(')) throw this.#unexpected();
    const open = this.#token.at;
    if (!optional && this.#take('(')) return this.#method(operand, text, open);
    return this.#node({ kind: 'select', at, operand, field: text, test: false, optional });
  }

  #method(target: Expr, name: string, at: number): Expr {
    const args = this.#args(')');
    if (target.kind === 'ident' && target.name === 'cel' && name === 'bind') return this.#bind(args, at);
    if (name === 'sortBy' && args.length === 2) return this.#sortBy(target, args as [Expr, Expr], at); // two of two
    const loop = LOOPS.get(name);
    const made = loop === undefined ? undefined : this.#loop(loop, target, args, at);
    if (made !== undefined) return made;
    const optional = OPTIONAL_MACROS.get(name);
    if (optional !== undefined && args.length === 2) {
      const [variable, body] = args as [Expr, Expr]; // two of two
      const lambda: Comprehension = {
        kind: 'loop',
        at,
        loop: 'bind',
        range: this.#call('value', at, [], target),
        variables: [this.#variable(variable)],
        filter: undefined,
        body,
      };
      return this.#call(optional, at, [this.#node(lambda)], target);
    }
    return this.#call(name, at, args, target);
  }

  #bind(args: readonly Expr[], at: number): Expr {
    const [variable, value, body] = args;
    if (variable === undefined || value === undefined || body === undefined || args.length !== 3) {
      throw new CelSyntaxError(this.#source, at, 'cel.bind() wants a variable, a value and an expression');
    }
    return this.#node({
      kind: 'loop',
      at,
      loop: 'bind',
      range: value,
      variables: [this.#variable(variable)],
      filter: undefined,
      body,
    });
  }

  /** The list is bound to a name that no expression can have, and sorted by what the expression says of each item. */
  #sortBy(target: Expr, [variable, body]: readonly [Expr, Expr], at: number): Expr {
    const name = '@sorted';
    const list = (): Expr => this.#node({ kind: 'ident', at, name });
    const variables = [this.#variable(variable)] as const;
    const keys = this.#node({ kind: 'loop', at, loop: 'map', range: list(), variables, filter: undefined, body });
    const sorted = this.#call('@sortByAssociatedKeys', at, [keys], list());
    const bound = { kind: 'loop', at, loop: 'bind', range: target, variables: [name], filter: undefined } as const;
    return this.#node({ ...bound, body: sorted });
  }

  #variable(expr: Expr): string {
    if (expr.kind === 'ident' && expr.name !== ACCUMULATOR) return expr.name;
    throw new CelSyntaxError(this.#source, expr.at, 'argument must be a simple name');
  }

  /** Undefined for a call that is no macro: so many arguments has another function. */
  #loop(loop: LoopKind, range: Expr, args: readonly Expr[], at: number): Expr | undefined {
    const isTransform = loop.startsWith('transform');
    const hasFilter = (loop === 'map' && args.length === 3) || (isTransform && args.length === 4);
    const names = args.length - 1 - (hasFilter ? 1 : 0);
    const wanted = isTransform
      ? names === 2
      : loop === 'map' || loop === 'filter'
        ? names === 1
        : names === 1 || names === 2;
    const body = args.at(-1);
    if (!wanted || body === undefined) return undefined;
    const variables = args.slice(0, names).map((it) => this.#variable(it)) as unknown as readonly [string]; // one or two
    if (new Set(variables).size < variables.length) {
      throw new CelSyntaxError(this.#source, at, 'duplicate variable name in macro');
    }
    return this.#node({ kind: 'loop', at, loop, range, variables, filter: hasFilter ? args[names] : undefined, body });
  }

  #list(at: number): Expr {
    const items: Item[] = [];
    // `[?` is one token: the first item of a list is optional then.
    let optional = this.#take('[?');
    if (!optional) this.#expect('[');
    while (optional || !this.#take(']')) {
      optional = this.#take('?') || optional;
      items.push({ value: this.#expr(), optional });
      optional = false;
      if (!this.#is(']')) this.#expect(',');
    }
    return this.#node({ kind: 'list', at, items });
  }

  #struct(type: Expr, at: number): Expr {
    const name = pathOf(type);
    if (name === undefined) throw this.#unexpected();
    this.#expect('{');
    const members: Member[] = [];
    while (!this.#take('}')) {
      const optional = this.#take('?');
      const { type: token, text } = this.#token;
      if (token !== 'ident') throw this.#unexpected();
      this.#next++;
      this.#expect(':');
      members.push({ name: text, value: this.#expr(), optional });
      if (!this.#is('}')) this.#expect(',');
    }
    return this.#node({ kind: 'struct', at, name, members });
  }

  #map(at: number): Expr {
    const entries: Entry[] = [];
    while (!this.#take('}')) {
      const optional = this.#take('?');
      const key = this.#expr();
      this.#expect(':');
      entries.push({ key, value: this.#expr(), optional });
      if (!this.#is('}')) this.#expect(',');
    }
    return this.#node({ kind: 'map', at, entries });
  }
}

const CONSTANTS: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ['true', { type: 'bool', value: true }],
  ['false', { type: 'bool', value: false }],
  ['null', { type: 'null' }],
]);

/** Macros of optional values: the variable stands for the value in it. */
const OPTIONAL_MACROS: ReadonlyMap<string, string> = new Map([
  ['optMap', 'optMap'],
  ['optFlatMap', 'optFlatMap'],
]);
