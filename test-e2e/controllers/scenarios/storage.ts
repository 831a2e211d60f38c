import type { Live } from '../../../services/client/rest/resource-type.js';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../../services/machinery/types/generated/core.v1.js';
import { pod } from '../../api/tools/objects.js';
import { scenarios, types, words, type ScenarioContext } from './scenario.js';

const { pvcProtection, pvProtection } = words.finalizers;
const requests = { storage: '1Gi' };

/** A claim, as soon as it is protected. */
async function claim(c: ScenarioContext, namespace: string): Promise<Live<PersistentVolumeClaim>> {
  await c.create(types.persistentVolumeClaims, {
    metadata: { name: 'claim', namespace },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests } },
  });
  const isProtected = ({ metadata }: PersistentVolumeClaim): boolean => metadata?.finalizers?.includes(pvcProtection) === true; // prettier-ignore
  return c.comes(types.persistentVolumeClaims, 'claim', namespace, isProtected);
}

/** A pod that uses the claim. */
async function user(
  c: ScenarioContext,
  namespace: string,
  placed: object = { nodeName: 'nowhere' },
): Promise<Live<Pod>> {
  await c.comes(types.serviceAccounts, 'default', namespace);
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }];
  return c.create(types.pods, pod('user', { ...placed, volumes }, { namespace }));
}

async function volume(c: ScenarioContext, short: string): Promise<Live<PersistentVolume>> {
  const name = c.named(short);
  await c.create(types.persistentVolumes, {
    metadata: { name },
    spec: { capacity: requests, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } },
  });
  const isProtected = ({ metadata }: PersistentVolume): boolean => metadata?.finalizers?.includes(pvProtection) === true; // prettier-ignore
  return c.comes(types.persistentVolumes, name, '', isProtected);
}

export const STORAGE = scenarios('storage', [
  {
    name: 'a claim that nothing uses goes when it is deleted',
    expected: { claim: 'gone' },
    run: async (c) => {
      const made = await claim(c, await c.namespace());
      await c.delete(types.persistentVolumeClaims, made);
      return c.lives({ claim: [types.persistentVolumeClaims, made] });
    },
  },
  {
    name: 'a claim that is deleted stays for as long as a pod uses it',
    expected: { before: { claim: { deleting: true, finalizers: [pvcProtection] } }, after: { claim: 'gone' } },
    run: async (c) => {
      const namespace = await c.namespace();
      const made = await claim(c, namespace);
      const other = await claim(c, await c.namespace('unused')); // deleted after it, and goes
      const using = await user(c, namespace);
      const look = c.lives({ claim: [types.persistentVolumeClaims, made] });
      await c.delete(types.persistentVolumeClaims, made);
      await c.delete(types.persistentVolumeClaims, other);
      await c.until(async () => ((await c.find(types.persistentVolumeClaims, 'claim', other.metadata.namespace)) === undefined ? true : undefined)); // prettier-ignore
      const before = await look();
      await c.delete(types.pods, using, { gracePeriodSeconds: 0 });
      return async () => ({ before, after: await look() });
    },
  },
  {
    name: 'a claim is used by a pod that has ended, and by none without a node',
    expected: { ended: { deleting: true, finalizers: [pvcProtection] }, waiting: 'gone' },
    run: async (c) => {
      const [one, other] = [await c.namespace('one'), await c.namespace('other')];
      const [ended, waiting] = [await claim(c, one), await claim(c, other)];
      await c.patch(types.pods, await user(c, one), { status: { phase: 'Succeeded' } }, 'status');
      await user(c, other, {});
      for (const it of [ended, waiting]) await c.delete(types.persistentVolumeClaims, it);
      return c.lives({
        ended: [types.persistentVolumeClaims, ended],
        waiting: [types.persistentVolumeClaims, waiting],
      });
    },
  },
  {
    name: 'a volume that is deleted stays for as long as it is bound',
    expected: { bound: { deleting: true, finalizers: [pvProtection] }, free: 'gone' },
    run: async (c) => {
      const [bound, free] = [await volume(c, 'bound'), await volume(c, 'free')];
      await c.patch(types.persistentVolumes, bound, { status: { phase: 'Bound' } }, 'status');
      await c.delete(types.persistentVolumes, bound);
      await c.delete(types.persistentVolumes, free);
      return c.lives({ bound: [types.persistentVolumes, bound], free: [types.persistentVolumes, free] });
    },
  },
]);
