//! Tables of an operation's functions, as openssl/core_dispatch.h numbers and types them: read
//! from the provider that is delegated to, and written for the core that loads this one.

use std::ffi::{c_char, c_int, c_uchar, c_void};

use super::boundary::boundary;
use super::delegate::delegate;
use super::{Callback, CoreHandle, Dispatch, OSSL_PARAM};

type Context = *mut c_void;
type Key = *mut c_void;
type Bytes = *const c_uchar;
type BytesMut = *mut c_uchar;
type Params = *const OSSL_PARAM;
type ParamsMut = *mut OSSL_PARAM;
type Size = *mut usize;

/// A table as the core passes it: functions by their numbers.
pub(crate) trait Table: Copy + Default {
    /// The numbers of all functions that are known here.
    #[cfg(test)]
    const IDS: &[i32];

    /// Reads a table, leaving out what is not known here.
    ///
    /// # Safety
    /// `dispatch` is a terminated table of this operation's functions.
    unsafe fn read(dispatch: *const Dispatch) -> Self;

    /// The table for the core, terminated.
    fn write(&self) -> Box<[Dispatch]>;

    /// These functions, without those that `theirs` has not.
    fn among(self, theirs: &Self) -> Self;
}

/// What the core holds for something of the default provider's.
pub(crate) trait Wrapper {
    type Table: 'static;

    /// The default provider's own, and its functions.
    ///
    /// # Safety
    /// See the module `operations`; what is returned is not used after the call that passed `raw`.
    unsafe fn unwrap<'w>(raw: *mut c_void) -> (&'w Self::Table, *mut c_void);
}

/// A table's functions: number, name and type, of OpenSSL 3.0 to 4.0. A function that is not listed
/// is not offered: it might be given what this provider wraps, which only a function of this table
/// can unwrap. Those under `on` take what the core holds first,
/// and `forward` makes functions of them that pass on what that wraps.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $name:ident { $($id:literal $field:ident ($($arg:ty),*) $(-> $ret:ty)?;)* }
        $(on $receiver:ty {
            $($on_id:literal $on_field:ident ($($on_arg:ident: $on_type:ty),*) -> $on_ret:ty;)*
        })?
    ) => {
        table! {
            @type $(#[$doc])* $name {
                $($id $field ($($arg),*) $(-> $ret)?;)*
                $($($on_id $on_field ($receiver $(, $on_type)*) -> $on_ret;)*)?
            }
        }

        $(impl $name {
            /// Each function of what is wrapped goes on to the default provider's.
            pub(crate) fn forward<W: Wrapper<Table = Self>>() -> Self {
                $(unsafe extern "C" fn $on_field<W: Wrapper<Table = $name>>(
                    wrapper: $receiver,
                    $($on_arg: $on_type),*
                ) -> $on_ret {
                    boundary(|| {
                        // SAFETY: see the module `operations`.
                        let (theirs, inner) = unsafe { W::unwrap(wrapper) };
                        delegate!(theirs.$on_field, inner $(, $on_arg)*)
                    })
                })*
                Self { $($on_field: Some($on_field::<W>),)* ..Self::default() }
            }
        })?
    };
    (
        @type $(#[$doc:meta])*
        $name:ident { $($id:literal $field:ident ($($arg:ty),*) $(-> $ret:ty)?;)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct $name {
            $(pub $field: Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>,)*
        }

        impl Table for $name {
            #[cfg(test)]
            const IDS: &[i32] = &[$($id),*];

            unsafe fn read(mut dispatch: *const Dispatch) -> Self {
                let mut table = Self::default();
                // SAFETY: the caller's table has its terminator, and each number stands for the
                // type that the public header gives it.
                unsafe {
                    while (*dispatch).id != 0 {
                        match (*dispatch).id {
                            $($id => table.$field = std::mem::transmute::<
                                Option<unsafe extern "C" fn()>,
                                Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>,
                            >((*dispatch).function),)*
                            _ => {}
                        }
                        dispatch = dispatch.add(1);
                    }
                }
                table
            }

            fn write(&self) -> Box<[Dispatch]> {
                let mut table = Vec::new();
                $(if let Some(function) = self.$field {
                    // SAFETY: a function pointer as an untyped one, which the core turns back by
                    // its number.
                    let function = unsafe {
                        std::mem::transmute::<
                            unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                            unsafe extern "C" fn(),
                        >(function)
                    };
                    table.push(Dispatch { id: $id, function: Some(function) });
                })*
                table.push(Dispatch { id: 0, function: None });
                table.into()
            }

            fn among(self, theirs: &Self) -> Self {
                Self { $($field: theirs.$field.and(self.$field),)* }
            }
        }
    };
}

/// Tells of a provider of the same library context that comes or goes.
pub(crate) type ProviderChange = unsafe extern "C" fn(*const CoreHandle, *mut c_void) -> c_int;

/// Tells of the library context's default properties.
pub(crate) type PropertiesChange = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int;

/// `OSSL_FUNC_skeymgmt_import_fn` of openssl/core_dispatch.h.
type ImportSecret = unsafe extern "C" fn(*mut c_void, c_int, Params) -> *mut c_void;

table! {
    /// What the core offers to providers.
    Core {
        2 get_params(*const CoreHandle, ParamsMut) -> c_int;
        105 register_child_cb(
            *const CoreHandle, Option<ProviderChange>, Option<ProviderChange>,
            Option<PropertiesChange>, *mut c_void
        ) -> c_int;
        106 deregister_child_cb(*const CoreHandle);
        107 provider_name(*const CoreHandle) -> *const c_char;
        108 get0_provider_ctx(*const CoreHandle) -> *mut c_void;
        109 get0_dispatch(*const CoreHandle) -> *const Dispatch;
        110 up_ref(*const CoreHandle, c_int) -> c_int;
        111 free(*const CoreHandle, c_int) -> c_int;
    }
}

table! {
    /// What a provider offers to the core.
    ProviderFunctions {
        1024 teardown(*mut c_void);
        1025 gettable_params(*mut c_void) -> Params;
        1026 get_params(*mut c_void, ParamsMut) -> c_int;
        1027 query_operation(*mut c_void, c_int, *mut c_int) -> *const super::Algorithm;
        1028 unquery_operation(*mut c_void, c_int, *const super::Algorithm);
        1030 get_capabilities(*mut c_void, *const c_char, Option<Callback>, *mut c_void) -> c_int;
    }
}

table! {
    /// Keys.
    Keymgmt {
        1 new(*mut c_void) -> Key;
        2 gen_init(*mut c_void, c_int, Params) -> Context;
        3 gen_set_template(Context, Key) -> c_int;
        4 gen_set_params(Context, Params) -> c_int;
        5 gen_settable_params(Context, *mut c_void) -> Params;
        6 generate(Context, Option<Callback>, *mut c_void) -> Key;
        7 gen_cleanup(Context);
        10 free(Key);
        12 gettable_params(*mut c_void) -> Params;
        14 settable_params(*mut c_void) -> Params;
        15 gen_get_params(Context, ParamsMut) -> c_int;
        16 gen_gettable_params(Context, *mut c_void) -> Params;
        17 new_ex(*mut c_void, Params) -> Key;
        20 query_operation_name(c_int) -> *const c_char;
        23 matches(Key, Key, c_int) -> c_int;
        41 import_types(c_int) -> Params;
        43 export_types(c_int) -> Params;
        44 dup(Key, c_int) -> Key;
        45 import_types_ex(*mut c_void, c_int) -> Params;
        46 export_types_ex(*mut c_void, c_int) -> Params;
    }
    on Key {
        11 get_params(params: ParamsMut) -> c_int;
        13 set_params(params: Params) -> c_int;
        21 has(selection: c_int) -> c_int;
        22 validate(selection: c_int, check: c_int) -> c_int;
        40 import(selection: c_int, params: Params) -> c_int;
        42 export(selection: c_int, callback: Option<Callback>, arg: *mut c_void) -> c_int;
    }
}

table! {
    /// Signatures.
    Signature {
        1 newctx(*mut c_void, *const c_char) -> Context;
        2 sign_init(Context, Key, Params) -> c_int;
        4 verify_init(Context, Key, Params) -> c_int;
        6 verify_recover_init(Context, Key, Params) -> c_int;
        8 digest_sign_init(Context, *const c_char, Key, Params) -> c_int;
        12 digest_verify_init(Context, *const c_char, Key, Params) -> c_int;
        16 freectx(Context);
        17 dupctx(Context) -> Context;
        19 gettable_ctx_params(Context, *mut c_void) -> Params;
        21 settable_ctx_params(Context, *mut c_void) -> Params;
        26 query_key_types() -> *mut *const c_char;
        27 sign_message_init(Context, Key, Params) -> c_int;
        30 verify_message_init(Context, Key, Params) -> c_int;
    }
    on Context {
        3 sign(sig: BytesMut, len: Size, room: usize, digest: Bytes, digest_len: usize) -> c_int;
        5 verify(sig: Bytes, sig_len: usize, digest: Bytes, digest_len: usize) -> c_int;
        7 verify_recover(
            out: BytesMut, len: Size, room: usize, sig: Bytes, sig_len: usize
        ) -> c_int;
        9 digest_sign_update(data: Bytes, len: usize) -> c_int;
        10 digest_sign_final(sig: BytesMut, len: Size, room: usize) -> c_int;
        11 digest_sign(
            sig: BytesMut, len: Size, room: usize, message: Bytes, message_len: usize
        ) -> c_int;
        13 digest_verify_update(data: Bytes, len: usize) -> c_int;
        14 digest_verify_final(sig: Bytes, len: usize) -> c_int;
        15 digest_verify(sig: Bytes, len: usize, message: Bytes, message_len: usize) -> c_int;
        18 get_ctx_params(params: ParamsMut) -> c_int;
        20 set_ctx_params(params: Params) -> c_int;
        22 get_ctx_md_params(params: ParamsMut) -> c_int;
        23 gettable_ctx_md_params() -> Params;
        24 set_ctx_md_params(params: Params) -> c_int;
        25 settable_ctx_md_params() -> Params;
        28 sign_message_update(data: Bytes, len: usize) -> c_int;
        29 sign_message_final(sig: BytesMut, len: Size, room: usize) -> c_int;
        31 verify_message_update(data: Bytes, len: usize) -> c_int;
        32 verify_message_final() -> c_int;
    }
}

table! {
    /// Key exchange.
    Keyexch {
        1 newctx(*mut c_void) -> Context;
        2 init(Context, Key, Params) -> c_int;
        4 set_peer(Context, Key) -> c_int;
        5 freectx(Context);
        6 dupctx(Context) -> Context;
        8 settable_ctx_params(Context, *mut c_void) -> Params;
        10 gettable_ctx_params(Context, *mut c_void) -> Params;
    }
    on Context {
        3 derive(secret: BytesMut, len: Size, room: usize) -> c_int;
        7 set_ctx_params(params: Params) -> c_int;
        9 get_ctx_params(params: ParamsMut) -> c_int;
        11 derive_skey(
            kind: *const c_char, provctx: *mut c_void, import: Option<ImportSecret>,
            len: usize, params: Params
        ) -> *mut c_void;
    }
}

table! {
    /// Encryption.
    AsymCipher {
        1 newctx(*mut c_void) -> Context;
        2 encrypt_init(Context, Key, Params) -> c_int;
        4 decrypt_init(Context, Key, Params) -> c_int;
        6 freectx(Context);
        7 dupctx(Context) -> Context;
        9 gettable_ctx_params(Context, *mut c_void) -> Params;
        11 settable_ctx_params(Context, *mut c_void) -> Params;
    }
    on Context {
        3 encrypt(out: BytesMut, len: Size, room: usize, input: Bytes, input_len: usize) -> c_int;
        5 decrypt(out: BytesMut, len: Size, room: usize, input: Bytes, input_len: usize) -> c_int;
        8 get_ctx_params(params: ParamsMut) -> c_int;
        10 set_ctx_params(params: Params) -> c_int;
    }
}

table! {
    /// Key encapsulation.
    Kem {
        1 newctx(*mut c_void) -> Context;
        2 encapsulate_init(Context, Key, Params) -> c_int;
        3 encapsulate(Context, BytesMut, Size, BytesMut, Size) -> c_int;
        4 decapsulate_init(Context, Key, Params) -> c_int;
        5 decapsulate(Context, BytesMut, Size, Bytes, usize) -> c_int;
        6 freectx(Context);
        7 dupctx(Context) -> Context;
        9 gettable_ctx_params(Context, *mut c_void) -> Params;
        10 set_ctx_params(Context, Params) -> c_int;
        11 settable_ctx_params(Context, *mut c_void) -> Params;
        12 auth_encapsulate_init(Context, Key, Key, Params) -> c_int;
        13 auth_decapsulate_init(Context, Key, Key, Params) -> c_int;
    }
    on Context {
        8 get_ctx_params(params: ParamsMut) -> c_int;
    }
}

/// The functions of a context that all operations have and that do not just go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub freectx: Option<unsafe extern "C" fn(Context)>,
    pub dupctx: Option<unsafe extern "C" fn(Context) -> Context>,
    pub set_ctx_params: Option<unsafe extern "C" fn(Context, Params) -> c_int>,
    pub gettable_ctx_params: Option<unsafe extern "C" fn(Context, *mut c_void) -> Params>,
    pub settable_ctx_params: Option<unsafe extern "C" fn(Context, *mut c_void) -> Params>,
}

/// A table with functions of contexts.
pub(crate) trait ContextTable: Table {
    fn common(&self) -> Common;

    fn set_common(&mut self, common: Common);
}

macro_rules! context_table {
    ($($table:ident),*: $fields:tt) => { $(context_table! { @impl $table $fields })* };
    (@impl $table:ident { $($field:ident)* }) => {
        impl ContextTable for $table {
            fn common(&self) -> Common {
                Common { $($field: self.$field,)* }
            }

            fn set_common(&mut self, common: Common) {
                $(self.$field = common.$field;)*
            }
        }
    };
}

context_table! {
    Signature, Keyexch, AsymCipher: {
        freectx dupctx set_ctx_params gettable_ctx_params settable_ctx_params
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// openssl/core_dispatch.h of the release that this is built with.
    fn header() -> String {
        let named = std::env::var_os("OPENSSL_INCLUDE_DIR").map(PathBuf::from);
        let directory = named.unwrap_or_else(|| "/usr/include".into());
        let header = directory.join("openssl/core_dispatch.h");
        std::fs::read_to_string(&header).unwrap_or_else(|error| panic!("{header:?}: {error}"))
    }

    #[test]
    fn every_function_of_this_release_is_in_its_table() {
        let tables = [
            ("KEYMGMT_", Keymgmt::IDS),
            ("SIGNATURE_", Signature::IDS),
            ("KEYEXCH_", Keyexch::IDS),
            ("ASYM_CIPHER_", AsymCipher::IDS),
            ("KEM_", Kem::IDS),
        ];
        let header = header();
        let mut checked = [0; 5];
        for line in header.lines() {
            let mut words = line.trim_start_matches(['#', ' ']).split_whitespace();
            let (Some("define"), Some(name), Some(id)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Some(name) = name.strip_prefix("OSSL_FUNC_") else {
                continue;
            };
            // A reference to a key is its own provider's: nothing refers to one of this provider.
            if name == "KEYMGMT_LOAD" {
                continue;
            }
            for ((prefix, ids), checked) in tables.iter().zip(&mut checked) {
                if name.starts_with(prefix) {
                    let id = id.parse().expect("a number");
                    assert!(ids.contains(&id), "OSSL_FUNC_{name} {id} is in no table");
                    *checked += 1;
                }
            }
        }
        assert!(checked.iter().all(|&count| count >= 10), "{checked:?}");
    }
}
