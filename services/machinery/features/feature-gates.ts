import { FlagError } from '../flags/flags.js';
import { ALL_OF, GATES, type Gate, type Stage } from './gates.js';

/** Which features are on. */
export interface FeatureGates {
  /** A gate that this release does not know is off. */
  enabled(name: string): boolean;
}

const DEFAULTS: Readonly<Record<Stage, boolean>> = { alpha: false, beta: true, ga: true };

/** Features and their state by default. */
export const DEFAULT_GATES: FeatureGates = gatesOf(GATES, new Map(), new Map());

/**
 * Reads `--feature-gates` (spec 1, 3.3 and 9.2): alpha features may be turned on, beta features off. Gates of features
 * that are generally available do nothing any more: naming one warns, and turning it off is refused.
 *
 * @throws {FlagError} for an unknown or removed gate, one that cannot be turned off, or a value that is no truth value
 */
export function featureGates(
  asked: ReadonlyMap<string, string>,
  table: Readonly<Record<string, Gate>> = GATES,
): { readonly gates: FeatureGates; readonly warnings: readonly string[] } {
  const own = new Map<string, boolean>();
  const ofStage = new Map<Stage, boolean>();
  const warnings: string[] = [];
  for (const [name, text] of asked) {
    const value = readValue(name, text);
    const stage = ALL_OF.get(name);
    if (stage !== undefined) {
      ofStage.set(stage, value);
      continue;
    }
    warnings.push(...check(name, knownGate(table, name), value));
    own.set(name, value);
  }
  return { gates: gatesOf(table, own, ofStage), warnings };
}

/** The gates that do something, for `--help`. */
export const gatesHelp = (table: Readonly<Record<string, Gate>> = GATES): string =>
  Object.entries(table)
    .filter(([, { stage }]) => stage !== 'ga')
    .map(([name, { stage }]) => `${name} (${stage}, ${DEFAULTS[stage] ? 'on' : 'off'})`)
    .join(', ');

function gatesOf(
  table: Readonly<Record<string, Gate>>,
  own: ReadonlyMap<string, boolean>,
  ofStage: ReadonlyMap<Stage, boolean>,
): FeatureGates {
  const enabled = new Set(
    Object.entries(table)
      .filter(([name, { stage }]) => own.get(name) ?? ofStage.get(stage) ?? DEFAULTS[stage])
      .map(([name]) => name),
  );
  return { enabled: (name) => enabled.has(name) };
}

function readValue(name: string, text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw refused(name, `${JSON.stringify(text)} is neither true nor false`);
}

function knownGate(table: Readonly<Record<string, Gate>>, name: string): Gate {
  const gate = Object.hasOwn(table, name) ? table[name] : undefined;
  if (gate === undefined) throw refused(name, 'there is no such feature gate');
  if (gate.removed !== undefined) {
    throw refused(name, `the gate was removed in ${gate.removed}; the feature is always on since ${gate.since}`);
  }
  return gate;
}

/** @returns Warnings for the operator who set it. */
function check(name: string, { stage, since }: Gate, value: boolean): readonly string[] {
  if (stage !== 'ga') return [];
  if (!value) throw refused(name, `the feature is generally available since ${since} and cannot be turned off`);
  return [
    `--feature-gates: ${name} is deprecated and non-operational: the feature is always on since ${since}, and the gate will be removed`,
  ];
}

const refused = (name: string, why: string): FlagError => new FlagError(`Cannot use --feature-gates ${name}: ${why}`);
