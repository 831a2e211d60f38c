import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { THE_SERVER } from '../../request/users.js';
import { jobs } from './jobs.js';

describe('the strategy of jobs', () => {
  const prepared = (spec: object): unknown => {
    const job: ApiObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'pi', uid: 'u1' }, spec };
    jobs.prepareForCreate?.(job, THE_SERVER, 'batch/v1');
    return job['spec'];
  };

  it('labels the pods, and lets the job look for its own', () => {
    assert.deepEqual(prepared({ template: { metadata: { labels: { app: 'pi' } }, spec: {} } }), {
      selector: { matchLabels: { 'controller-uid': 'u1' } },
      template: { metadata: { labels: { app: 'pi', 'controller-uid': 'u1', 'job-name': 'pi' } }, spec: {} },
    });
  });

  it('leaves what the client has put there', () => {
    const labels = { 'controller-uid': 'mine', 'job-name': 'mine' };
    const selector = { matchLabels: { 'controller-uid': 'mine' } };
    const spec = { selector, template: { metadata: { labels } } };
    assert.deepEqual(prepared(spec), spec);
  });

  it('gives a job without labels those of its pods', () => {
    const labelled = (labels: Record<string, string> | undefined): unknown => {
      const template = { metadata: { labels: { app: 'pi' } } };
      const metadata = { name: 'pi', uid: 'u1', ...(labels === undefined ? {} : { labels }) };
      const job: ApiObject = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } };
      jobs.prepareForCreate?.(job, THE_SERVER, 'batch/v1');
      return job.metadata.labels;
    };
    const generated = { app: 'pi', 'controller-uid': 'u1', 'job-name': 'pi' };
    assert.deepEqual(labelled({ app: 'pi' }), generated, 'as its defaults say');
    assert.deepEqual(labelled({ own: 'x' }), { own: 'x' });
  });

  it('leaves everything to a client who selects', () => {
    const spec = { manualSelector: true, selector: { matchLabels: { a: 'b' } }, template: {} };
    assert.deepEqual(prepared(spec), spec);
  });
});
