import type { AnyObject, Live } from '../../../services/client/rest/resource-type.js';
import type { Job } from '../../../services/machinery/types/generated/batch.v1.js';
import { pod } from '../../api/tools/objects.js';
import { scenarios, referenceTo, types, type ScenarioContext } from './scenario.js';

async function job(
  c: ScenarioContext,
  namespace: string,
  name: string,
  ttlSecondsAfterFinished?: number,
): Promise<Live<Job>> {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'x', image: 'x' }] } };
  const after = ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished };
  return c.create(types.jobs, { metadata: { name, namespace }, spec: { template, ...after } });
}

async function finish(c: ScenarioContext, made: Live<Job>, type: 'Complete' | 'Failed'): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const conditions = [{ type, status: 'True', lastTransitionTime: now }];
  const completionTime = type === 'Complete' ? { completionTime: now } : {};
  await c.patch(types.jobs, made, { status: { startTime: now, conditions, ...completionTime } }, 'status');
}

export const JOBS = scenarios('jobs', [
  {
    name: 'one that has finished goes after its time, with its pods, and others stay',
    expected: { done: 'gone', failed: 'gone', ofDone: 'gone', unfinished: {}, untimed: {}, later: {} },
    run: async (c) => {
      const namespace = await c.namespace();
      await c.comes(types.serviceAccounts, 'default', namespace);
      const [unfinished, untimed] = [await job(c, namespace, 'unfinished', 0), await job(c, namespace, 'untimed')];
      const [done, failed] = [await job(c, namespace, 'done', 2), await job(c, namespace, 'failed', 0)];
      const later = await job(c, namespace, 'later', 3_600);
      const ownerReferences = [{ ...referenceTo(done), controller: true, blockOwnerDeletion: true }];
      const ofDone: Live<AnyObject> = await c.create(types.pods, pod('of-done', {}, { namespace, ownerReferences }));
      for (const it of [untimed, done, later]) await finish(c, it, 'Complete');
      await finish(c, failed, 'Failed');
      return c.lives({
        done: [types.jobs, done],
        failed: [types.jobs, failed],
        ofDone: [types.pods, ofDone],
        unfinished: [types.jobs, unfinished],
        untimed: [types.jobs, untimed],
        later: [types.jobs, later],
      });
    },
  },
  {
    name: 'one whose time is made shorter goes by that, and one that comes to have none stays',
    expected: { shorter: 'gone', untimed: {} },
    run: async (c) => {
      const namespace = await c.namespace();
      const [shorter, untimed] = [await job(c, namespace, 'shorter', 3_600), await job(c, namespace, 'untimed', 3_600)];
      await finish(c, shorter, 'Complete');
      await finish(c, untimed, 'Complete');
      await c.patch(types.jobs, untimed, { spec: { ttlSecondsAfterFinished: null } });
      await c.patch(types.jobs, shorter, { spec: { ttlSecondsAfterFinished: 1 } });
      return c.lives({ shorter: [types.jobs, shorter], untimed: [types.jobs, untimed] });
    },
  },
]);
