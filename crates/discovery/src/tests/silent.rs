//! An announcement as bytes, from a peer that is not there and can answer nothing.

pub(super) fn announcement(id: &str, record_ttl: u32, txt_ttl: &str) -> Vec<u8> {
    const PTR: u16 = 12;
    const TXT: u16 = 16;
    const SRV: u16 = 33;
    const A: u16 = 1;
    let service = name(&["_agentsc", "_tcp", "local"]);
    let instance = name(&[id, "_agentsc", "_tcp", "local"]);
    let host = name(&[id, "local"]);
    let txt: Vec<u8> = [format!("id={id}"), "v=v1.0".into(), format!("ttl={txt_ttl}")]
        .iter()
        .flat_map(|text| std::iter::once(text.len() as u8).chain(text.bytes()))
        .collect();
    let srv = [&[0, 0, 0, 0, 0x1e, 0xd4], host.as_slice()].concat();
    let head = [0, 0, 0x84, 0, 0, 0, 0, 4, 0, 0, 0, 0];
    let records = [
        record(&service, PTR, record_ttl, &instance),
        record(&instance, SRV, record_ttl, &srv),
        record(&instance, TXT, record_ttl, &txt),
        record(&host, A, record_ttl, &[127, 0, 0, 1]),
    ];
    [head.as_slice(), &records.concat()].concat()
}

fn name(labels: &[&str]) -> Vec<u8> {
    let label = |label: &&str| [&[label.len() as u8], label.as_bytes()].concat();
    let mut bytes: Vec<u8> = labels.iter().flat_map(label).collect();
    bytes.push(0);
    bytes
}

fn record(name: &[u8], kind: u16, ttl: u32, data: &[u8]) -> Vec<u8> {
    const INTERNET: u16 = 1;
    [
        name,
        &kind.to_be_bytes(),
        &INTERNET.to_be_bytes(),
        &ttl.to_be_bytes(),
        &(data.len() as u16).to_be_bytes(),
        data,
    ]
    .concat()
}
