//! The copies of libssl in this process, and their functions. The module is linked with none: a
//! program may have libssl in no scope that the module sees (opened `RTLD_LOCAL`, as Python's `ssl`
//! does), and a plugin may bring a copy of its own.
//!
//! A connection or context belongs to the copy that its method lies in, which every copy tells
//! without looking further than the method's place in the object.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::ffi::boundary::boundary;

/// `SSL` of openssl/ssl.h.
pub(crate) type Ssl = *mut c_void;
/// `SSL_CTX`.
pub(crate) type SslCtx = *mut c_void;
/// `BIO`.
pub(crate) type Bio = *mut c_void;
/// `void (*)(const SSL *ssl, int type, int val)`.
pub(crate) type InfoCallback = unsafe extern "C" fn(*const c_void, c_int, c_int);

/// `CRYPTO_EX_INDEX_SSL` of openssl/crypto.h.
pub(crate) const CONNECTIONS: c_int = 0;

/// The version of the functions' names.
pub(crate) const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("LANELOCK_LIBSSL_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero in it"),
    };

macro_rules! library {
    ($($field:ident = $name:literal: fn($($arg:ty),*) $(-> $result:ty)?,)*) => {
        /// One copy of libssl, by the names of openssl/ssl.h without their prefix. It is never
        /// unmapped.
        pub(crate) struct Library {
            /// Where it is mapped.
            addresses: Range<usize>,
            next: OnceLock<Box<Library>>,
            $(pub(crate) $field: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*
        }

        impl Library {
            /// The functions of the object that is mapped at `addresses`; `None` if it is no
            /// libssl.
            fn new(handle: *mut c_void, addresses: Range<usize>) -> Option<Self> {
                let find = |name: &CStr| {
                    // SAFETY: a handle of dlopen's, terminated strings.
                    let found = unsafe { libc::dlvsym(handle, name.as_ptr(), VERSION.as_ptr()) };
                    // Not those of the libraries that the object depends on.
                    addresses.contains(&found.addr()).then_some(found)
                };
                Some(Self {
                    $(
                        // SAFETY: the type is that of openssl/ssl.h for this name and version.
                        $field: unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($arg),*) $(-> $result)?,
                            >(find($name)?)
                        },
                    )*
                    addresses: addresses.clone(),
                    next: OnceLock::new(),
                })
            }
        }
    };
}

library! {
    free = c"SSL_free": fn(Ssl),
    up_ref = c"SSL_up_ref": fn(Ssl) -> c_int,
    dup = c"SSL_dup": fn(Ssl) -> Ssl,
    clear = c"SSL_clear": fn(Ssl) -> c_int,
    method = c"SSL_get_ssl_method": fn(Ssl) -> *const c_void,
    context = c"SSL_get_SSL_CTX": fn(Ssl) -> SslCtx,
    set_info_callback = c"SSL_set_info_callback": fn(Ssl, Option<InfoCallback>),
    info_callback = c"SSL_get_info_callback": fn(Ssl) -> Option<InfoCallback>,
    set_msg_callback = c"SSL_set_msg_callback": fn(Ssl, *mut c_void),
    waiting_for_async = c"SSL_waiting_for_async": fn(Ssl) -> c_int,
    all_async_fds = c"SSL_get_all_async_fds": fn(Ssl, *mut c_int, *mut usize) -> c_int,
    do_handshake = c"SSL_do_handshake": fn(Ssl) -> c_int,
    accept = c"SSL_accept": fn(Ssl) -> c_int,
    read = c"SSL_read": fn(Ssl, *mut c_void, c_int) -> c_int,
    read_ex = c"SSL_read_ex": fn(Ssl, *mut c_void, usize, *mut usize) -> c_int,
    peek = c"SSL_peek": fn(Ssl, *mut c_void, c_int) -> c_int,
    peek_ex = c"SSL_peek_ex": fn(Ssl, *mut c_void, usize, *mut usize) -> c_int,
    write = c"SSL_write": fn(Ssl, *mut c_void, c_int) -> c_int,
    write_ex = c"SSL_write_ex": fn(Ssl, *mut c_void, usize, *mut usize) -> c_int,
    get_error = c"SSL_get_error": fn(Ssl, c_int) -> c_int,
    want = c"SSL_want": fn(Ssl) -> c_int,
    state = c"SSL_state_string": fn(Ssl) -> *const c_char,
    in_init = c"SSL_in_init": fn(Ssl) -> c_int,
    early_data_status = c"SSL_get_early_data_status": fn(Ssl) -> c_int,
    is_server = c"SSL_is_server": fn(Ssl) -> c_int,
    ctrl = c"SSL_ctrl": fn(Ssl, c_int, c_long, *mut c_void) -> c_long,
    ex_data = c"SSL_get_ex_data": fn(Ssl, c_int) -> *mut c_void,
    set_ex_data = c"SSL_set_ex_data": fn(Ssl, c_int, *mut c_void) -> c_int,
    rbio = c"SSL_get_rbio": fn(Ssl) -> Bio,
    wbio = c"SSL_get_wbio": fn(Ssl) -> Bio,
    rfd = c"SSL_get_rfd": fn(Ssl) -> c_int,
    set0_rbio = c"SSL_set0_rbio": fn(Ssl, Bio),
    set0_wbio = c"SSL_set0_wbio": fn(Ssl, Bio),
    ctx_method = c"SSL_CTX_get_ssl_method": fn(SslCtx) -> *const c_void,
    ctx_set_info_callback = c"SSL_CTX_set_info_callback": fn(SslCtx, Option<InfoCallback>),
    ctx_info_callback = c"SSL_CTX_get_info_callback": fn(SslCtx) -> Option<InfoCallback>,
}

/// The copies that are known, the first found first.
static FIRST: OnceLock<Box<Library>> = OnceLock::new();

/// An object in this process.
struct Mapped {
    name: CString,
    addresses: Range<usize>,
}

impl Library {
    /// How far a connection's handshake is, as SSL_state_string(3) names it: the numbers differ from
    /// release to release.
    ///
    /// # Safety
    /// `ssl` is a connection of this libssl's.
    pub(crate) unsafe fn state_of(&self, ssl: Ssl) -> &'static CStr {
        // SAFETY: the caller's connection; the names are of libssl's own text, which stays mapped.
        unsafe { CStr::from_ptr((self.state)(ssl)) }
    }

    /// The copy that a connection belongs to. `None` if that cannot be told.
    ///
    /// # Safety
    /// `ssl` is null or a connection of a libssl with names of [`VERSION`].
    pub(crate) unsafe fn of_connection(ssl: Ssl) -> Option<&'static Self> {
        if ssl.is_null() {
            return Self::only();
        }
        // SAFETY: it reads one pointer near the start of the caller's connection, whichever copy
        // that belongs to.
        let owns = |known: &Self| known.maps(unsafe { (known.method)(ssl) }.addr());
        Self::find(owns).or_else(Self::only)
    }

    /// The copy that a context belongs to. `None` if that cannot be told.
    ///
    /// # Safety
    /// `context` is one of a libssl with names of [`VERSION`].
    pub(crate) unsafe fn of_context(context: SslCtx) -> Option<&'static Self> {
        // SAFETY: as above.
        let owns = |known: &Self| known.maps(unsafe { (known.ctx_method)(context) }.addr());
        Self::find(owns).or_else(Self::only)
    }

    /// The copy whose code or data this is.
    pub(crate) fn at(address: usize) -> Option<&'static Self> {
        Self::find(|known| known.maps(address))
    }

    fn maps(&self, address: usize) -> bool {
        self.addresses.contains(&address)
    }

    /// The first copy that `is_it`, looked for among what has been loaded since if no known one is.
    fn find(is_it: impl Fn(&Self) -> bool) -> Option<&'static Self> {
        let known = || Self::known().find(|known| is_it(known));
        known().or_else(|| {
            discover();
            known()
        })
    }

    /// The copy that the loader would bind the program's calls to, or else the only one.
    fn only() -> Option<&'static Self> {
        // SAFETY: terminated strings; the search begins after this object.
        let next = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"SSL_free".as_ptr(), VERSION.as_ptr()) };
        if !next.is_null() {
            return Self::at(next.addr());
        }
        discover();
        let mut known = Self::known();
        let one = known.next()?;
        known.next().is_none().then_some(one)
    }

    fn known() -> impl Iterator<Item = &'static Self> {
        std::iter::successors(FIRST.get(), |known| known.next.get()).map(|known| &**known)
    }
}

/// Looks for copies of libssl, if anything has been loaded since the last time.
fn discover() {
    static LOOKED_AT: Mutex<u64> = Mutex::new(0);
    let mut looked_at = LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut objects = Objects {
        list: Vec::new(),
        looked_at: *looked_at,
    };
    // SAFETY: the callback's argument is as it expects it, and lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut objects).cast()) };
    *looked_at = objects.looked_at;
    for object in objects.list {
        let known = Library::known().any(|known| known.addresses == object.addresses);
        if !known && let Some(library) = open(object) {
            let last = Library::known().last();
            let place = last.map_or(&FIRST, |last| &last.next);
            let _known = place.set(Box::new(library));
        }
    }
}

/// The libssl that this object is, if it is one; from then on it stays loaded.
fn open(object: Mapped) -> Option<Library> {
    let flags = libc::RTLD_LAZY | libc::RTLD_LOCAL | libc::RTLD_NOLOAD;
    // SAFETY: a terminated string; what is not loaded is not opened.
    unsafe {
        let handle = libc::dlopen(object.name.as_ptr(), flags);
        if handle.is_null() {
            return None;
        }
        let library = Library::new(handle, object.addresses);
        if library.is_none() {
            libc::dlclose(handle);
        }
        library
    }
}

struct Objects {
    list: Vec<Mapped>,
    /// How many objects had ever been loaded when they were looked at.
    looked_at: u64,
}

/// Takes an object down, unless none has been loaded since the last time.
unsafe extern "C" fn note(
    info: *mut libc::dl_phdr_info,
    _: libc::size_t,
    objects: *mut c_void,
) -> c_int {
    boundary(|| {
        // SAFETY: the loader's description of an object and its headers; the argument is `discover`'s.
        let (info, headers, name, objects) = unsafe {
            let info = &*info;
            let count = usize::from(info.dlpi_phnum);
            (
                info,
                std::slice::from_raw_parts(info.dlpi_phdr, count),
                CStr::from_ptr(info.dlpi_name),
                &mut *objects.cast::<Objects>(),
            )
        };
        if objects.list.is_empty() {
            if objects.looked_at == info.dlpi_adds {
                return 1;
            }
            objects.looked_at = info.dlpi_adds;
        }
        let base = usize::try_from(info.dlpi_addr).unwrap_or(0);
        let ends = |header: &libc::Elf64_Phdr| {
            let start = base + usize::try_from(header.p_vaddr).unwrap_or(0);
            (start, start + usize::try_from(header.p_memsz).unwrap_or(0))
        };
        let loaded = headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD)
            .map(ends);
        let (start, end) = loaded.fold((usize::MAX, 0), |(start, end), (first, last)| {
            (start.min(first), end.max(last))
        });
        objects.list.push(Mapped {
            name: name.to_owned(),
            addresses: start..end,
        });
        0
    })
}
