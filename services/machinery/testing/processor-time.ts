/**
 * How long this process computes while `work` runs, in milliseconds: other than the time that passes, it does not grow when
 * the machine is busy with something else.
 */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
