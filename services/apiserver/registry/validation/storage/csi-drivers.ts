import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import { checkEnum, checkImmutable, each } from '../checks/members.js';
import type { KindValidation, Problems } from '../types.js';

interface DriverSpec {
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly volumeLifecycleModes?: readonly string[];
  readonly fsGroupPolicy?: string;
  readonly tokenRequests?: readonly { readonly audience?: string; readonly expirationSeconds?: number }[];
}

const specOf = (driver: ApiObject): DriverSpec => driver['spec'] ?? {};

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const SHORTEST_TOKEN_SECONDS = 600;
const LONGEST_TOKEN_SECONDS = 2 ** 32;

/** One token for each audience. */
function checkTokenRequests(at: At, requests: DriverSpec['tokenRequests']): void {
  const audiences = new Set<string>();
  each(at, 'tokenRequests', requests, ({ audience = '', expirationSeconds: seconds }, requestAt) => {
    if (audiences.has(audience)) {
      requestAt.duplicate('audience', audience);
      return;
    }
    audiences.add(audience);
    if (seconds === undefined) return;
    if (seconds < SHORTEST_TOKEN_SECONDS) {
      requestAt.invalid('expirationSeconds', seconds, 'may not specify a duration less than 10 minutes');
    } else if (seconds > LONGEST_TOKEN_SECONDS) {
      requestAt.invalid('expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds');
    }
  });
}

function checkDriver(driver: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const spec = specOf(driver);
  checkEnum(at, 'fsGroupPolicy', spec.fsGroupPolicy, FS_GROUP_POLICIES);
  checkTokenRequests(at, spec.tokenRequests);
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!LIFECYCLE_MODES.includes(mode)) at.notSupported('volumeLifecycleModes', mode, LIFECYCLE_MODES);
  }
}

/** Which members stay, and where that is said: the first was always called differently there. */
const FIXED = [
  ['attachRequired', 'attachedRequired'],
  ['fsGroupPolicy', 'fsGroupPolicy'],
  ['podInfoOnMount', 'podInfoOnMount'],
  ['volumeLifecycleModes', 'volumeLifecycleModes'],
] as const;

export const csiDrivers: KindValidation = {
  object: checkDriver,
  update: (next, old, problems) => {
    const at = At.root(problems, 'spec');
    const spec = specOf(next);
    const oldSpec = specOf(old);
    for (const [member, place] of FIXED) checkImmutable(at, place, spec[member], oldSpec[member]);
  },
};
