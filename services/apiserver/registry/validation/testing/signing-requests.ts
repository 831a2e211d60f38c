import { pemText } from '../../../../machinery/pki/pem.js';

/* A request that was signed, and a certificate: DER in base64. */

/** P-256 */
export const EC_REQUEST =
  'MIHcMIGDAgEAMCExDzANBgNVBAoMBnBlb3BsZTEOMAwGA1UEAwwFYWxpY2UwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS+i6JitYSoe+XNp7VXW3MgndyfwvLEjNdCREz8ggrrQvSJnbd92TFaGtzY6I3Xz4WHNclTey0akeVGA3sxlVFVoAAwCgYIKoZIzj0EAwIDSAAwRQIhAI16EXcdXSaqzmzbpujT+AXzapUr7sZn7yuHRObMdQhmAiAHBaITOiK0CAZChNTKKbybDtlhECS3EG1HQOCvwI3fTw==';
export const CERTIFICATE =
  'MIIBdjCCAR2gAwIBAgIUB3mGqarJJqph4S29R12gCrDHnXowCgYIKoZIzj0EAwIwEDEOMAwGA1UEAwwFYWxpY2UwIBcNMjYxMTIxMDQzMTI3WhgPMjEyNjEwMjgwNDMxMjdaMBAxDjAMBgNVBAMMBWFsaWNlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvouiYrWEqHvlzae1V1tzIJ3cn8LyxIzXQkRM/IIK60L0iZ23fdkxWhrc2OiN18+FhzXJU3stGpHlRgN7MZVRVaNTMFEwHQYDVR0OBBYEFM/m2Dhs2Kn9a9mDfc61iMBJhenoMB8GA1UdIwQYMBaAFM/m2Dhs2Kn9a9mDfc61iMBJhenoMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgXkU44GwZnXc9aHNeSx9smRlvCP7xJDtimcn8ZU5QlkICIFrjc8Cjm6Bfo15CwwMJqgWX/AqOml1jos/z43U1s/Yd';

/** The PEM file with such a block, in base64 as objects carry it. */
export const pem = (der: string, type = 'CERTIFICATE REQUEST'): string =>
  Buffer.from(pemText(type, Buffer.from(der, 'base64'))).toString('base64');
