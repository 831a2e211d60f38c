import type { StoreCapabilities } from '../store.js';

/** A version of etcd, as major, minor and patch. */
type Version = readonly [number, number, number];

interface KnownFault {
  readonly what: string;
  /** For each minor release, the patch that mended it; later minor releases than the last never had it. */
  readonly mended: Readonly<Record<string, number>>;
  /** Whether watch progress cannot be relied on. */
  readonly progress: boolean;
}

const FAULTS: readonly KnownFault[] = [
  {
    what: 'watch events may be lost after a compaction, and progress may be wrong or missing',
    mended: { '3.4': 31, '3.5': 13 },
    progress: true,
  },
  {
    what: 'reads may be stale after the process was paused',
    mended: { '3.4': 42, '3.5': 28, '3.6': 9 },
    progress: false,
  },
];

const parse = (version: string): Version | undefined => {
  const found = /^(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2]), Number(found[3])];
};

function has([major, minor, patch]: Version, fault: KnownFault): boolean {
  const mendedAt = fault.mended[`${major}.${minor}`];
  if (mendedAt !== undefined) return patch < mendedAt;
  return major < 3 || (major === 3 && minor < 4); // older than all that were mended
}

/** Capabilities and known faults by the versions of the members. A version that cannot be read counts as sound. */
export function capabilitiesOf(versions: readonly string[]): StoreCapabilities {
  const distinct = [...new Set(versions)].toSorted();
  const warnings: string[] = [];
  let reliableProgress = true;
  for (const version of distinct) {
    const parsed = parse(version);
    for (const fault of FAULTS) {
      if (parsed === undefined || !has(parsed, fault)) continue;
      const mended = Object.entries(fault.mended).map(([minor, patch]) => `${minor}.${patch}`);
      warnings.push(`etcd ${version}: ${fault.what} (mended in ${mended.join(', ')})`);
      if (fault.progress) reliableProgress = false;
    }
  }
  return { reliableProgress, warnings };
}
