import { arch, platform, version as runtime } from 'node:process';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/**
 * What `/version` answers. Clients parse every member as text, and `gitVersion` as a version, so none may be missing.
 *
 * @param version `major.minor.patch` of the product.
 */
export function versionDocument(version: string): object {
  const [major = '', minor = ''] = version.split('.');
  return {
    major,
    minor,
    gitVersion: `v${version}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z', // builds are the same whenever they are made
    goVersion: runtime,
    compiler: 'v8',
    platform: `${platform}/${ARCHITECTURES[arch] ?? arch}`,
  };
}
