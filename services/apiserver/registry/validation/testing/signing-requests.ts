import { pemText } from '../../../../machinery/pki/pem.js';

/* A request that was signed, and a certificate: DER in base64. */

/** P-256 */
export const EC_REQUEST =
  'MIHcMIGDAgEAMCExDzANBgNVBAoMBnBlb3BsZTEOMAwGA1UEAwwFYWxpY2UwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS+i6JitYSoe+XNp7VXW3MgndyfwvLEjNdCREz8ggrrQvSJnbd92TFaGtzY6I3Xz4WHNclTey0akeVGA3sxlVFVoAAwCgYIKoZIzj0EAwIDSAAwRQIhAI16EXcdXSaqzmzbpujT+AXzapUr7sZn7yuHRObMdQhmAiAHBaITOiK0CAZChNTKKbybDtlhECS3EG1HQOCvwI3fTw==';
/** The same with the organizations people and system:masters: each by itself, and both as one part of the name. */
export const MASTERS_REQUESTS = [
  'MIH1MIGcAgEAMDoxDzANBgNVBAoMBnBlb3BsZTEXMBUGA1UECgwOc3lzdGVtOm1hc3RlcnMxDjAMBgNVBAMMBWFsaWNlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECJHFo2lR6FaeUORlX61gUnRvQvETeE9OAXQTIVPwj7DbTZLE3pTiuwEWLq3wxGmHV1SKDoK79mz0ftvzkoy8wqAAMAoGCCqGSM49BAMCA0gAMEUCIGY8gMBN+Wwm8i5+c7GtXiEkkJtLJSdpNlWb0KO2R+wHAiEA8ZLQvhKOd7eMxjAzgzZaVq0HX1Cg6n4W81n9/tfWX+s=',
  'MIHyMIGaAgEAMDgxJjANBgNVBAoMBnBlb3BsZTAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQ4wDAYDVQQDDAVhbGljZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPQHUQPm6ISKjshGuDc5R2/DlCSl29ThAOc1R1cKhqpAmDqV8P4P/KP3o/LExPm63/rGNDaLgvSxXDTRen5qaiSgADAKBggqhkjOPQQDAgNHADBEAiBV9sAB5lzA+oFxE+38g925oWOfckUzM8uiiei0wkwysgIgFyreNYxYba8G1d16bL55Tc9FsWgc8SN8MyCvNgPE8/o=',
] as const;
export const CERTIFICATE =
  'MIIBdjCCAR2gAwIBAgIUB3mGqarJJqph4S29R12gCrDHnXowCgYIKoZIzj0EAwIwEDEOMAwGA1UEAwwFYWxpY2UwIBcNMjYxMTIxMDQzMTI3WhgPMjEyNjEwMjgwNDMxMjdaMBAxDjAMBgNVBAMMBWFsaWNlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvouiYrWEqHvlzae1V1tzIJ3cn8LyxIzXQkRM/IIK60L0iZ23fdkxWhrc2OiN18+FhzXJU3stGpHlRgN7MZVRVaNTMFEwHQYDVR0OBBYEFM/m2Dhs2Kn9a9mDfc61iMBJhenoMB8GA1UdIwQYMBaAFM/m2Dhs2Kn9a9mDfc61iMBJhenoMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgXkU44GwZnXc9aHNeSx9smRlvCP7xJDtimcn8ZU5QlkICIFrjc8Cjm6Bfo15CwwMJqgWX/AqOml1jos/z43U1s/Yd';

/** The PEM file with such a block, in base64 as objects carry it. */
export const pem = (der: string, type = 'CERTIFICATE REQUEST'): string =>
  Buffer.from(pemText(type, Buffer.from(der, 'base64'))).toString('base64');
