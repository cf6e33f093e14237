//! The functions in queries.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use lanelock::{Aead, Hash, Mac};

/// A table `users` of 5000 e-mail addresses, the last of them null, in batches of 1000.
fn context() -> Result<SessionContext> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_batch_size(1000));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5000));
    let emails = (0..5000).map(|id| (id != 4999).then(|| format!("user{id}@example.org")));
    let emails: ArrayRef = Arc::new(StringArray::from_iter(emails));
    context.register_batch(
        "users",
        RecordBatch::try_from_iter([("id", ids), ("email", emails)])?,
    )?;
    let device = lanelock::open().expect("an engine");
    for (name, aead, key) in [
        ("siv", Aead::AesSiv, &[1; 64][..]),
        ("gcm_siv", Aead::AesGcmSiv, &[2; 32]),
        ("chacha", Aead::ChaCha20Poly1305, &[3; 32]),
    ] {
        context.register_udf(lanelock_datafusion::encrypt(
            &format!("{name}_encrypt"),
            &device,
            aead,
            key,
        )?);
        context.register_udf(lanelock_datafusion::decrypt(
            &format!("{name}_decrypt"),
            &device,
            aead,
            key,
        )?);
    }
    let hmac = Mac::Hmac(Hash::Sha256);
    context.register_udf(lanelock_datafusion::mac(
        "pseudonym",
        &device,
        hmac,
        b"key",
        16,
    )?);
    Ok(context)
}

async fn query(sql: &str) -> Result<Vec<RecordBatch>> {
    context()?.sql(sql).await?.collect().await
}

async fn number(sql: &str) -> Result<i64> {
    let batches = query(sql).await?;
    let column = batches[0].column(0).as_any().downcast_ref::<Int64Array>();
    Ok(column.expect("a count").value(0))
}

#[tokio::test]
async fn what_is_encrypted_is_decrypted() -> Result<()> {
    for name in ["siv", "gcm_siv", "chacha"] {
        let sql = format!(
            "SELECT count(*) FROM users WHERE \
             {name}_decrypt({name}_encrypt(email::bytea)) IS NOT DISTINCT FROM email::bytea"
        );
        assert_eq!(number(&sql).await?, 5000, "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn deterministic_ciphertexts_join_and_random_ones_do_not() -> Result<()> {
    let join = |name: &str| {
        format!(
            "SELECT count(*) FROM (SELECT id, {name}_encrypt(email::bytea) AS e FROM users) a \
             JOIN (SELECT id, {name}_encrypt(email::bytea) AS e FROM users) b ON a.e = b.e AND a.id = b.id"
        )
    };
    assert_eq!(number(&join("siv")).await?, 4999);
    assert_eq!(number(&join("gcm_siv")).await?, 0);
    Ok(())
}

#[tokio::test]
async fn no_nonce_is_used_twice() -> Result<()> {
    let mut nonces = BTreeSet::new();
    for batch in query("SELECT gcm_siv_encrypt(email::bytea) FROM users").await? {
        let column = batch.column(0).as_any().downcast_ref::<BinaryArray>();
        nonces.extend(
            column
                .expect("binary")
                .iter()
                .flatten()
                .map(|value| value[..12].to_vec()),
        );
    }
    assert_eq!(nonces.len(), 4999);
    Ok(())
}

#[tokio::test]
async fn a_pseudonym_is_the_mac() -> Result<()> {
    let batches = query("SELECT pseudonym('a value'::bytea)").await?;
    // printf 'a value' | openssl dgst -sha256 -hmac key
    let text = pretty_format_batches(&batches)?.to_string();
    assert!(text.contains("6f76fcaa7b408850b1e9782e68557d3a"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_row_that_is_not_authentic_fails_the_query() {
    let sql = "SELECT gcm_siv_decrypt(chacha_encrypt(email::bytea)) FROM users";
    let error = query(sql)
        .await
        .expect_err("another algorithm's ciphertexts")
        .to_string();
    assert!(
        error.contains("gcm_siv_decrypt: row 0: authentication failed"),
        "{error}"
    );
    let error = query("SELECT siv_decrypt('short'::bytea)")
        .await
        .expect_err("too short")
        .to_string();
    assert!(
        error.contains("row 0: the ciphertext is too short"),
        "{error}"
    );
}
