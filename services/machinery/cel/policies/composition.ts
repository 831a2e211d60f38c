import { expression, LIBRARIES, type Expression } from '../expression.js';
import { Functions } from '../functions.js';
import { APPLIED_TYPE, JSON_PATCH_TYPE, PATCHES, patchTypes } from '../libraries/patches.js';
import { BOOL, DYN, fits, listOf, NULL, STRING, typeText, type CelType, type ObjectType } from '../types.js';
import { variableTypes, type Declared } from './variable-types.js';

/** An expression that does not compile, or gives something else than what is wanted. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/** What an expression has to give: a value of exactly one of these types; none: any. */
export type Wanted = readonly CelType[];
export const A_BOOL: Wanted = [BOOL];
export const A_TEXT: Wanted = [STRING];
export const A_TEXT_OR_NOTHING: Wanted = [STRING, NULL];
export const AN_OBJECT: Wanted = [APPLIED_TYPE];
export const OPERATIONS: Wanted = [listOf(JSON_PATCH_TYPE)];
export const ANYTHING: Wanted = [];

/** The variable whose members are expressions themselves. */
const FOUND: ReadonlySet<string> = new Set(['variables']);

let patching: Functions | undefined;

/** The expressions of one policy: those that come later know the variables that came before. */
export class Composition {
  readonly #declared: Declared;
  readonly #fields = new Map<string, CelType>();
  readonly #type: ObjectType = { kind: 'object', name: 'kubernetes.variables', fields: () => this.#fields };
  readonly #hasVariables: boolean;

  /** @param hasVariables Whether expressions may say `variables` at all. */
  constructor(declared: Declared, hasVariables = true) {
    this.#declared = declared;
    this.#hasVariables = hasVariables;
  }

  /** Declares a variable also where its expression does not compile: then it may be anything. @throws {ExpressionError} */
  variable(name: string, source: string): Expression {
    this.#fields.set(name, DYN);
    const compiled = this.expression(source, ANYTHING);
    this.#fields.set(name, compiled.type);
    return compiled;
  }

  /** @throws {ExpressionError} */
  expression(source: string, wanted: Wanted, said: { readonly hasAuthorizer?: boolean } = {}): Expression {
    const types = variableTypes({ ...this.#declared, ...said });
    if (this.#hasVariables) types.set('variables', this.#type);
    const isPatch = wanted === AN_OBJECT || wanted === OPERATIONS;
    const environment = isPatch
      ? { functions: (patching ??= new Functions([...LIBRARIES, PATCHES])), types: patchTypes }
      : {};
    const compiled = compile(source, types, { ...environment, found: FOUND });
    checkType(compiled.type, wanted);
    return compiled;
  }
}

function compile(...args: Parameters<typeof expression>): Expression {
  try {
    return expression(...args);
  } catch (err) {
    throw new ExpressionError(`compilation failed: ${(err as Error).message}`, { cause: err });
  }
}

/** @throws {ExpressionError} */
function checkType(given: CelType, wanted: Wanted): void {
  if (wanted.length === 0 || wanted.some((type) => isExactly(type, given))) return;
  const [first] = wanted.map(typeText);
  const what = wanted.length === 1 ? (first ?? '') : `one of [${wanted.map(typeText).join(' ')}]`;
  throw new ExpressionError(`must evaluate to ${what} but got ${typeText(given)}`);
}

/** Anything is no type in particular; a list of it may be an empty one. */
const isExactly = (type: CelType, given: CelType): boolean =>
  typeText(type) === typeText(given) || (type.kind === 'list' && given.kind === 'list' && fits(type, given, new Map()));
