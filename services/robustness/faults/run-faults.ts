import type { Scene } from '../clients/scene.js';
import type { RunOptions } from '../options.js';
import type { Random } from '../random/random.js';

export async function runFaults(
  _o: RunOptions,
  _d: { scene: Scene; random: Random },
  _signal: AbortSignal,
): Promise<void> {
  // none yet
}
