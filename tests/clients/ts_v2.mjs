// Drives @modelcontextprotocol/client 2.x. Usage: node ts_v2.mjs URL modern|auto|legacy
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { drive } from './driver.mjs';

const [url, mode] = process.argv.slice(2);
const negotiation = { modern: { mode: { pin: '2026-07-28' } }, auto: { mode: 'auto' } };
const client = new Client(
  { name: 'forecourt-ts-v2', version: '1.0.0' },
  { versionNegotiation: negotiation[mode] },
);
const about = () => ({
  protocol: client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion(),
});
await drive(client, new StreamableHTTPClientTransport(new URL(url)), about);
