import assert from 'node:assert/strict';
import { alertRules, checkRules, goThrough, needsPromtool, type Series } from './promtool.js';

const SERVER = 'job="platform-apiserver",instance="a"';
/** A counter that goes on by so much a minute. */
const grows = (by: number): string => `0+${by}x90`;
const stays = (value: number): string => `${value}+0x90`;
const WEEK = 7 * 24 * 3600;

/** A histogram whose calls all take between two bounds, in seconds. */
const slow = (name: string, labels: string, [below, above]: readonly [number, number]): Series => ({
  [`${name}_bucket{${labels},le="${below}"}`]: stays(0),
  [`${name}_bucket{${labels},le="${above}"}`]: grows(60),
  [`${name}_bucket{${labels},le="+Inf"}`]: grows(60),
});

interface Case {
  /** In which it fires, after an hour and a half. */
  readonly fires: Series;
  /** In which it does not. */
  readonly silent: Series;
}

const READ = `verb="GET",subresource="",${SERVER}`;
const WRITE = `verb="PUT",subresource="",${SERVER}`;
const CASES: Readonly<Record<string, Case>> = {
  PlatformServerDown: { fires: { [`up{${SERVER}}`]: stays(0) }, silent: { [`up{${SERVER}}`]: stays(1) } },
  PlatformNoServer: {
    fires: { [`apiserver_ready{${SERVER}}`]: stays(0) },
    silent: { [`apiserver_ready{${SERVER}}`]: stays(0), 'apiserver_ready{instance="b"}': stays(1) },
  },
  PlatformServerNotReady: {
    fires: { [`apiserver_ready{${SERVER}}`]: stays(0) },
    silent: { [`apiserver_ready{${SERVER}}`]: stays(1) },
  },
  PlatformErrors: {
    fires: { 'apiserver_request_total{code="200"}': grows(98), 'apiserver_request_total{code="503"}': grows(2) },
    silent: { 'apiserver_request_total{code="200"}': grows(98), 'apiserver_request_total{code="404"}': grows(20) },
  },
  PlatformSlowWrites: {
    fires: slow('apiserver_request_duration_seconds', WRITE, [1, 2]),
    silent: slow('apiserver_request_duration_seconds', WRITE, [0.5, 1]),
  },
  PlatformSlowReads: {
    fires: slow('apiserver_request_duration_seconds', READ, [1, 2]),
    silent: slow('apiserver_request_duration_seconds', READ.replace('subresource=""', 'subresource="log"'), [1, 2]),
  },
  PlatformRejections: {
    fires: { 'apiserver_flowcontrol_rejected_requests_total{priority_level="global-default"}': grows(1) },
    silent: { 'apiserver_flowcontrol_rejected_requests_total{priority_level="global-default"}': stays(7) },
  },
  PlatformCacheBehind: {
    fires: { [`apiserver_cache_gate_timeouts_total{${SERVER}}`]: grows(1) },
    silent: { [`apiserver_cache_gate_timeouts_total{${SERVER}}`]: stays(3) },
  },
  PlatformFeedRestarts: {
    fires: { [`apiserver_feed_restarts_total{${SERVER}}`]: '0x60 1 2 3 4x40' },
    silent: { [`apiserver_feed_restarts_total{${SERVER}}`]: '0x60 1x40' },
  },
  PlatformWatchFailures: {
    fires: { [`apiserver_watch_failures_total{${SERVER},kind="Secret"}`]: grows(1) },
    silent: { [`apiserver_watch_failures_total{${SERVER},kind="Secret"}`]: stays(1) },
  },
  PlatformEventLoopLag: {
    fires: { [`nodejs_eventloop_lag_p99_seconds{${SERVER}}`]: stays(0.3) },
    silent: { [`nodejs_eventloop_lag_p99_seconds{${SERVER}}`]: stays(0.02) },
  },
  PlatformMemory: {
    fires: { [`process_resident_memory_bytes{${SERVER}}`]: stays(3e9) },
    silent: {
      [`process_resident_memory_bytes{${SERVER}}`]: stays(3e8),
      'process_resident_memory_bytes{job="x"}': stays(3e9),
    },
  },
  PlatformStoreErrors: {
    fires: { [`etcd_request_errors_total{${SERVER},operation="get"}`]: grows(6) },
    silent: { [`etcd_request_errors_total{${SERVER},operation="get"}`]: grows(1) },
  },
  PlatformStoreSlow: {
    fires: slow('etcd_request_duration_seconds', `operation="txn",${SERVER}`, [0.6, 0.8]),
    silent: slow('etcd_request_duration_seconds', `operation="list",${SERVER}`, [0.6, 0.8]),
  },
  PlatformStoreFull: {
    fires: { [`apiserver_storage_full{${SERVER}}`]: stays(1) },
    silent: { [`apiserver_storage_full{${SERVER}}`]: stays(0) },
  },
  PlatformStoreLarge: {
    fires: { [`apiserver_storage_size_bytes{${SERVER}}`]: stays(7e9) },
    silent: { [`apiserver_storage_size_bytes{${SERVER}}`]: stays(5e9) },
  },
  PlatformBreakerOpen: {
    fires: { 'apiserver_breaker_state{name="audit webhook",state="open"}': stays(1) },
    silent: {
      'apiserver_breaker_state{name="audit webhook",state="open"}': stays(0),
      'apiserver_breaker_state{name="audit webhook",state="closed"}': stays(1),
    },
  },
  PlatformAPIServiceUnavailable: {
    fires: {
      'aggregator_unavailable_apiservice{name="v1.far",instance="a"}': stays(0),
      'aggregator_unavailable_apiservice{name="v1.far",instance="b"}': stays(1),
    },
    silent: {
      'aggregator_unavailable_apiservice{name="v1.far",instance="a"}': stays(0),
      'aggregator_unavailable_apiservice{name="v1.far",instance="b"}': '1+0x30 0+0x5 1+0x2 0+0x51',
    },
  },
  PlatformKeyServiceFails: {
    fires: {
      'apiserver_envelope_encryption_kms_operations_latency_seconds_count{grpc_status_code="Unavailable"}': grows(1),
    },
    silent: { 'apiserver_envelope_encryption_kms_operations_latency_seconds_count{grpc_status_code="OK"}': grows(1) },
  },
  PlatformAuditLoss: {
    fires: { 'apiserver_audit_error_total{plugin="log"}': grows(1) },
    silent: { 'apiserver_audit_error_total{plugin="log"}': stays(1) },
  },
  PlatformCertificateEnds: {
    fires: { 'certificate_not_after_timestamp_seconds{certificate="serving"}': stays(WEEK) },
    silent: { 'certificate_not_after_timestamp_seconds{certificate="serving"}': stays(WEEK + 86_400) },
  },
  PlatformCertificateEnded: {
    fires: { 'certificate_not_after_timestamp_seconds{certificate="client"}': stays(1) },
    silent: { 'certificate_not_after_timestamp_seconds{certificate="client"}': stays(2 * 86_400) },
  },
  PlatformFileUnusable: {
    fires: { 'files_unusable{what="certificates"}': stays(1) },
    silent: { 'files_unusable{what="certificates"}': stays(0) },
  },
  PlatformEncryptionConfigUnusable: {
    fires: { 'apiserver_encryption_config_controller_automatic_reloads_total{status="failure"}': grows(1) },
    silent: { 'apiserver_encryption_config_controller_automatic_reloads_total{status="success"}': grows(1) },
  },
  PlatformOldKeyTokens: {
    fires: { 'apiserver_service_account_old_key_tokens_total{instance="a"}': grows(1) },
    silent: { 'apiserver_service_account_old_key_tokens_total{instance="a"}': stays(9) },
  },
  PlatformNoLeader: {
    fires: { 'leader_election_master_status{name="l",instance="a"}': stays(0) },
    silent: {
      'leader_election_master_status{name="l",instance="a"}': stays(0),
      'leader_election_master_status{name="l",instance="b"}': stays(1),
    },
  },
  PlatformQueueDeep: {
    fires: { 'workqueue_depth{name="q"}': stays(2000) },
    silent: { 'workqueue_depth{name="q"}': stays(10) },
  },
  PlatformReconcilesFail: {
    fires: {
      'controller_runtime_reconcile_errors_total{controller="c"}': grows(6),
      'controller_runtime_reconcile_total{controller="c",result="error"}': grows(6),
      'controller_runtime_reconcile_total{controller="c",result="success"}': grows(4),
    },
    silent: {
      'controller_runtime_reconcile_errors_total{controller="c"}': grows(1),
      'controller_runtime_reconcile_total{controller="c",result="error"}': grows(1),
      'controller_runtime_reconcile_total{controller="c",result="success"}': grows(9),
    },
  },
  PlatformQueueRetries: {
    fires: { 'workqueue_retries_total{name="q"}': grows(600) },
    silent: { 'workqueue_retries_total{name="q"}': grows(60) },
  },
};

describe('alerts', function () {
  this.timeout(60_000);
  before(function () {
    needsPromtool(this);
  });

  it('are rules that Prometheus takes, each of another name, with a severity and what is to be known', () => {
    assert.equal(checkRules(), '');
    const rules = alertRules();
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, labels, annotations } of rules) {
      assert.match(labels['severity'] ?? '', /^(critical|warning|info)$/, alert);
      assert.ok((annotations['summary'] ?? '') !== '' && (annotations['description'] ?? '') !== '', alert);
    }
  });

  it('each fire when they should, and not otherwise', () => {
    assert.deepEqual(
      Object.keys(CASES).sort(),
      alertRules()
        .map(({ alert }) => alert)
        .sort(),
    );
    goThrough(
      Object.entries(CASES).flatMap(([alert, { fires, silent }]) => [
        { series: fires, at: '85m', firing: [alert] },
        { series: silent, at: '85m', silent: [alert] },
      ]),
    );
  });
});
